/** The port through which queries reach the webhook pools (servers/webhook_control). */
import type { ControlResponse__Output as ControlResponse } from '../../../protos/types/causeway/internal/v1/ControlResponse.js'
import type { ControlRequest } from '../../../protos/types/causeway/internal/v1/ControlRequest.js'
import type { Outcome } from '../../base/errors.js'
import type { QueueKey } from '../cycle/command.js'

/** A request and its response have the same member name. */
export type Subject = Exclude<keyof ControlRequest & keyof ControlResponse, 'number'>
export type PoolRequest<S extends Subject> = NonNullable<ControlRequest[S]>
export type PoolResponse<S extends Subject> = NonNullable<ControlResponse[S]>

export interface WebhookPools {
  readonly connectedPools: number
  /** Numbers of the pools that are expected and not connected: their deliveries are unknown. */
  readonly missingPools: readonly number[]
  /**
   * The responses of all connected pools; fails when one does not respond.
   *
   * @param of whose request it is. Default: an operator's
   */
  requestAll<S extends Subject>(
    subject: S,
    request: PoolRequest<S>,
    of?: QueueKey,
  ): Promise<Outcome<readonly PoolResponse<S>[]>>
  /** The response of one pool; pools are used in turn. */
  requestOne<S extends Subject>(
    subject: S,
    request: PoolRequest<S>,
    of?: QueueKey,
  ): Promise<Outcome<PoolResponse<S>>>
}
