/** Families of a webhook pool. */
import { counter, gauge, histogram, LONG_SECONDS, SECONDS, type Families } from './family.js'

export const WEBHOOK_FAMILIES = {
  causeway_webhook_attempts_total: counter(
    'Delivery attempts: `delivered`, `retry`, `permanent` or `gone`',
    'outcome',
  ),
  causeway_webhook_attempt_duration_seconds: histogram(
    SECONDS,
    'Time from the beginning of an attempt to the answer of the receiver',
    'outcome',
  ),
  causeway_webhook_event_age_seconds: histogram(
    LONG_SECONDS,
    'Time from the creation of an event to its 2xx',
  ),
  causeway_webhook_events_total: counter('New events received from the bus'),
  causeway_webhook_duplicates_total: counter('Known events received again'),
  causeway_webhook_poison_total: counter('Poison messages received'),
  causeway_webhook_in_flight: gauge('Attempts in flight'),
  causeway_webhook_waiting: gauge('Due deliveries in memory'),
  causeway_webhook_open_breakers: gauge('Endpoints with an open circuit breaker'),
  causeway_webhook_backlog: gauge('Open deliveries, due or waiting'),
  causeway_webhook_oldest_age_seconds: gauge('Age of the oldest event with an open delivery'),
  causeway_webhook_dead_letters: gauge('Dead deliveries'),
  causeway_webhook_corrupt_rows: gauge('Deliveries set apart because their rows are corrupt'),
} as const satisfies Families
