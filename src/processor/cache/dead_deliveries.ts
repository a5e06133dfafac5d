/**
 * The dead deliveries of webhook endpoints, as the webhook pools reported them last.
 *
 * Does not own: the numbers (the pools count them), when they are announced
 * (webhook_endpoints/dead_deliveries_record).
 *
 * - In memory only: each pool reports after it connects, and its report replaces the last one.
 * - The numbers of several pools are added up. An impossible moment is 0.
 */
import type { Instant } from '../../base/clock.js'
import type { EndpointId, EventId } from '../../base/ids.js'
import { storedMoment } from './stored_moments.js'

export interface DeadDeliveries {
  readonly count: number
  /** When the newest died. */
  readonly newestAt: Instant
  /** Those of events that are not about an endpoint. Null if there are none. */
  readonly alerting: AlertingDeliveries | null
}

export interface AlertingDeliveries {
  readonly count: number
  readonly newestAt: Instant
  readonly newestEventId: EventId
}

/** The dead deliveries of one pool, of endpoints that have some. */
export type PoolReport = ReadonlyMap<EndpointId, DeadDeliveries>

export interface DeadDeliveryTable {
  record(pool: number, report: PoolReport): void
  /** Null means that the endpoint has none. Undefined means that no pool has reported yet. */
  of(id: EndpointId): DeadDeliveries | null | undefined
}

export function createDeadDeliveryTable(): DeadDeliveryTable {
  const pools = new Map<number, PoolReport>()
  return {
    record: (pool, report) => {
      pools.set(pool, new Map([...report].map(([id, dead]) => [id, withMoments(dead)])))
    },
    of: (id) => {
      if (pools.size === 0) return undefined
      const found = [...pools.values()].flatMap((report) => report.get(id) ?? [])
      return found.length === 0 ? null : found.reduce(sum)
    },
  }
}

/** A row of a pool can be damaged. */
const withMoments = (dead: DeadDeliveries): DeadDeliveries => ({
  ...dead,
  newestAt: storedMoment(dead.newestAt),
  alerting: dead.alerting && { ...dead.alerting, newestAt: storedMoment(dead.alerting.newestAt) },
})

const sum = (one: DeadDeliveries, other: DeadDeliveries): DeadDeliveries => ({
  count: one.count + other.count,
  newestAt: later(one.newestAt, other.newestAt),
  alerting:
    one.alerting === null || other.alerting === null
      ? (one.alerting ?? other.alerting)
      : {
          count: one.alerting.count + other.alerting.count,
          newestAt: later(one.alerting.newestAt, other.alerting.newestAt),
          newestEventId: newer(one.alerting.newestEventId, other.alerting.newestEventId),
        },
})

const later = (one: Instant, other: Instant): Instant => (one > other ? one : other)

/** Ids begin with the time. */
const newer = (one: EventId, other: EventId): EventId => (one > other ? one : other)
