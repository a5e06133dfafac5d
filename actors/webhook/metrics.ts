/** Prometheus metrics of the webhook pool. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { SECOND, type Clock } from '../../src/base/clock.js'
import type { AttemptResult } from './sending/attempt.js'
import type { EventConsumer } from './intake/event_consumer.js'
import type { PoolState } from './control/pool_port.js'
import type { AdminQueries } from './store/admin_queries.js'
import type { WebhookStore } from './store/store.js'

const AGES_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120, 600, 3_600, 86_400]

export interface PoolMetrics {
  record(result: AttemptResult): void
}

export interface MetricSources {
  readonly counts: EventConsumer['counts']
  readonly pool: () => PoolState
  readonly adminQueries: Pick<AdminQueries, 'counts' | 'oldestOpen'>
  readonly store: Pick<WebhookStore, 'corruptRows'>
  readonly clock: Clock
}

export function registerMetrics(
  registry: Registry,
  { counts, pool, adminQueries, store, clock }: MetricSources,
): PoolMetrics {
  const registers = [registry]
  const attempts = new Counter({
    name: 'causeway_webhook_attempts_total',
    help: 'Delivery attempts, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const age = new Histogram({
    name: 'causeway_webhook_delivered_age_seconds',
    help: 'Time from the creation of an event to its 2xx, in seconds',
    buckets: AGES_S,
    registers,
  })
  const count = (name: string, help: string, read: () => number): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read())
      },
    })
  }
  const sumOf = async (kind: 'open' | 'dead'): Promise<number> =>
    (await adminQueries.counts()).reduce((sum, endpoint) => sum + endpoint[kind], 0)
  const oldestAge = async (): Promise<number> => {
    const oldest = await adminQueries.oldestOpen()
    return oldest === null ? 0 : (clock.now() - oldest) / SECOND
  }
  count('causeway_webhook_events_total', 'New events received from the bus', () => counts.events)
  count('causeway_webhook_duplicates_total', 'Known events received again', () => counts.duplicates)
  count('causeway_webhook_poison_total', 'Poison messages received', () => counts.poison)
  gauge('causeway_webhook_in_flight', 'Attempts in flight', () => pool().inFlight)
  gauge('causeway_webhook_waiting', 'Due deliveries in memory', () => pool().waitingInMemory)
  gauge(
    'causeway_webhook_open_breakers',
    'Endpoints with an open circuit breaker',
    () => pool().openBreakers,
  )
  gauge('causeway_webhook_backlog', 'Open deliveries, due or waiting', () => sumOf('open'))
  gauge(
    'causeway_webhook_oldest_age_seconds',
    'Age of the oldest event with an open delivery',
    oldestAge,
  )
  gauge('causeway_webhook_dead_letters', 'Dead deliveries', () => sumOf('dead'))
  gauge(
    'causeway_webhook_corrupt_rows',
    'Deliveries set apart because their rows are corrupt',
    () => store.corruptRows(),
  )

  return {
    record: ({ outcome, delivery, attempt }) => {
      attempts.inc({ outcome: outcome.kind })
      if (outcome.kind === 'delivered') age.observe((attempt.at - delivery.eventCreatedAt) / SECOND)
    },
  }
}
