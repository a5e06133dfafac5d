/**
 * The request id of a call, and the origin of the command that it runs.
 *
 * - The answer of a unary call has the id in its metadata too.
 * - A gRPC caller may bring its own id in the metadata `x-request-id`; one that is missing or not
 *   `req_` + 26 characters is replaced by a new one.
 */
import { Metadata } from '@grpc/grpc-js'
import type { Clock } from '../../base/clock.js'
import { isIdOf, newId, type RequestId } from '../../base/ids.js'
import type { Random } from '../../base/random.js'
import type { Cause, Origin } from '../cycle/origin.js'

export const REQUEST_ID_METADATA = 'x-request-id'

/** The id in a command of a gateway; null when it is not one. */
export const requestIdIn = (text: string): RequestId | null =>
  isIdOf('request', text) ? (text as RequestId) : null

/** The origin of a command that this call runs. */
export function originOf(
  metadata: Metadata,
  cause: Cause,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Origin {
  const [given] = metadata.get(REQUEST_ID_METADATA)
  const known = typeof given === 'string' ? requestIdIn(given) : null
  return { cause, requestId: known ?? newId<RequestId>('request', clock.now(), random) }
}

/** The metadata of an answer. */
export function requestIdMetadata({ requestId }: Origin): Metadata {
  const metadata = new Metadata()
  if (requestId !== null) metadata.set(REQUEST_ID_METADATA, requestId)
  return metadata
}
