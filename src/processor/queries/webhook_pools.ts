/**
 * The webhook pools, as a query asks them.
 *
 * Owns: the port. Does not own: the pools' streams (servers/webhook_control), what is asked.
 */
import type { ControlResponse__Output as ControlResponse } from '../../../protos/types/causeway/v1/ControlResponse.js'
import type { ControlRequest } from '../../../protos/types/causeway/v1/ControlRequest.js'
import type { Outcome } from '../../base/errors.js'

/** A question and its answer have the same name. */
export type Subject = Exclude<keyof ControlRequest & keyof ControlResponse, 'number'>
export type PoolRequest<S extends Subject> = NonNullable<ControlRequest[S]>
export type Answered<S extends Subject> = NonNullable<ControlResponse[S]>

export interface WebhookPools {
  /** How many pools attend. */
  readonly connectedPools: number
  /** What each pool answers. */
  requestAll<S extends Subject>(
    subject: S,
    request: PoolRequest<S>,
  ): Promise<Outcome<readonly Answered<S>[]>>
  /** What one of them answers. */
  requestOne<S extends Subject>(subject: S, request: PoolRequest<S>): Promise<Outcome<Answered<S>>>
}
