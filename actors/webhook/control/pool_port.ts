/** What the control of deliveries needs from the pool. */
import type { Instant } from '../../../src/base/clock.js'
import type { DeliveryId, EndpointId } from '../../../src/base/ids.js'
import type { Delivery } from '../store/store.js'

export interface PoolState {
  readonly inFlight: number
  readonly waitingInMemory: number
  readonly openBreakers: number
}

export interface FailingEndpoint {
  readonly endpointId: EndpointId
  readonly since: Instant
  readonly breakerOpen: boolean
}

/** @param isOnDiskOnly false for a delivery in memory, which must not be changed */
export type PausedQueueWork = (
  isOnDiskOnly: (delivery: { id: DeliveryId }) => boolean,
) => Promise<Instant | null>

export interface PoolPort {
  /** Schedules new deliveries; their rows are on disk once `stored` resolves. */
  deliver(deliveries: readonly Delivery[], stored?: Promise<void>): void
  /**
   * Runs `work`, which may change deliveries of an endpoint that are on disk only, then closes the
   * breaker and attempts due deliveries at once. `work` returns when the first of them is due;
   * null means that nothing changed.
   */
  withPausedQueue(endpointId: EndpointId, work: PausedQueueWork): Promise<void>
  /** For metrics. */
  state(): PoolState
  /** Endpoints without a 2xx since their first failure. */
  failing(): readonly FailingEndpoint[]
}
