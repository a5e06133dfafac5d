/** Metrics of the webhook pool. */
import { SECOND, type Clock } from '../../src/base/clock.js'
import type { Bus } from '../../src/bus/nats.js'
import type { Metrics } from '../../src/metrics/metrics.js'
import type { AttemptResult } from './sending/attempt.js'
import type { EventConsumer } from './intake/event_consumer.js'
import type { PoolState } from './control/pool_port.js'
import type { AdminQueries } from './store/admin_queries.js'
import type { WebhookStore } from './store/store.js'

export interface MetricSources {
  readonly counts: EventConsumer['counts']
  readonly pool: () => PoolState
  readonly adminQueries: Pick<AdminQueries, 'counts' | 'oldestOpen'>
  readonly store: Pick<WebhookStore, 'corruptRows'>
  readonly bus: Pick<Bus, 'status'>
  readonly clock: Clock
}

export function registerMetrics(
  metrics: Metrics,
  { counts, pool, adminQueries, store, bus, clock }: MetricSources,
): void {
  const sumOf = async (kind: 'open' | 'dead'): Promise<number> =>
    (await adminQueries.counts()).reduce((sum, endpoint) => sum + endpoint[kind], 0)
  metrics.read('causeway_webhook_events_total', () => counts.events)
  metrics.read('causeway_webhook_duplicates_total', () => counts.duplicates)
  metrics.read('causeway_webhook_poison_total', () => counts.poison)
  metrics.read('causeway_webhook_in_flight', () => pool().inFlight)
  metrics.read('causeway_webhook_waiting', () => pool().waitingInMemory)
  metrics.read('causeway_webhook_open_breakers', () => pool().openBreakers)
  metrics.read('causeway_webhook_backlog', () => sumOf('open'))
  metrics.read('causeway_webhook_dead_letters', () => sumOf('dead'))
  metrics.read('causeway_webhook_oldest_age_seconds', async () => {
    const oldest = await adminQueries.oldestOpen()
    return oldest === null ? 0 : (clock.now() - oldest) / SECOND
  })
  metrics.read('causeway_webhook_corrupt_rows', () => store.corruptRows())
  metrics.read('causeway_bus_up', () => Number(bus.status() === 'up'))
}

/** Records the attempts of the pool. */
export function createAttemptMeter(metrics: Metrics): (result: AttemptResult) => void {
  const attempts = metrics.counter('causeway_webhook_attempts_total')
  const age = metrics.histogram('causeway_webhook_event_age_seconds')
  return ({ outcome, delivery, attempt }) => {
    attempts.inc(outcome.kind)
    metrics
      .histogram('causeway_webhook_attempt_duration_seconds', outcome.kind)
      .observe(outcome.latencyMs / SECOND)
    if (outcome.kind === 'delivered') age.observe((attempt.at - delivery.eventCreatedAt) / SECOND)
  }
}
