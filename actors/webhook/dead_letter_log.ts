/**
 * Log lines of dead deliveries: one each up to a bound a second, then their number.
 *
 * - Written after the commit. The reason is ours, never text of the receiver.
 */
import type { Clock } from '../../src/base/clock.js'
import type { EndpointId } from '../../src/base/ids.js'
import { createLineBound } from '../../src/base/line_bound.js'
import type { Logger } from '../../src/base/log.js'
import type { Delivery } from './store/store.js'

export interface DeadLetterLog {
  /** Its last attempt failed, or the receiver refused it. */
  dead(delivery: Delivery): void
  /** Deliveries of a deleted endpoint. */
  abandoned(endpointId: EndpointId, count: number): void
  /** Writes the count of the running second. */
  stop(): void
}

export interface DeadLetterLogOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly perSecond: number
}

export function createDeadLetterLog({
  clock,
  log,
  perSecond,
}: DeadLetterLogOptions): DeadLetterLog {
  const bound = createLineBound(perSecond, (omitted) =>
    log.warn({ omitted }, 'dead deliveries not logged: rate limit of log lines reached'),
  )
  return {
    dead: ({ id, eventId, eventType, endpointId, tenant, requestId, context }) => {
      if (!bound.admits(clock.now())) return
      log.warn(
        {
          delivery_id: id,
          event_id: eventId,
          event_type: eventType,
          endpoint_id: endpointId,
          tenant,
          request_id: requestId ?? undefined,
          tries: context.tries,
          reason: context.reason,
        },
        'delivery is dead',
      )
    },
    abandoned: (endpointId, count) =>
      log.warn(
        { endpoint_id: endpointId, count, reason: 'endpoint_deleted' },
        'deliveries are dead',
      ),
    stop: () => bound.flush(),
  }
}
