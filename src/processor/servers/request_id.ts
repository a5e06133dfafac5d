/**
 * The request id of a call, and the origin of the command that it runs.
 *
 * - The answer of a unary call has the id in its metadata too.
 * - A gRPC caller may bring its trace in the metadata `traceparent`; without one, none begins.
 * - A gRPC caller may bring its own id in the metadata `x-request-id`; one that is missing or not
 *   `req_` + 26 characters is replaced by a new one.
 */
import { Metadata } from '@grpc/grpc-js'
import type { Clock } from '../../base/clock.js'
import { isIdOf, newId, type RequestId } from '../../base/ids.js'
import type { Random } from '../../base/random.js'
import { TRACEPARENT } from '../../base/traceparent.js'
import type { Sampler } from '../../tracing/sampler.js'
import type { Cause, Origin } from '../cycle/origin.js'

export const REQUEST_ID_METADATA = 'x-request-id'

/** The id in a command of a gateway; null when it is not one. */
export const requestIdIn = (text: string): RequestId | null =>
  isIdOf('request', text) ? (text as RequestId) : null

export interface OriginDependencies {
  readonly clock: Clock
  readonly random: Random
  /** Absent means that nothing is traced. */
  readonly sampler?: Sampler | undefined
}

/** The origin of a command that this call runs. */
export function originOf(
  metadata: Metadata,
  cause: Cause,
  { clock, random, sampler }: OriginDependencies,
): Origin {
  const [given] = metadata.get(REQUEST_ID_METADATA)
  const known = typeof given === 'string' ? requestIdIn(given) : null
  const requestId = known ?? newId<RequestId>('request', clock.now(), random)
  if (sampler === undefined) return { cause, requestId }
  const [caller] = metadata.get(TRACEPARENT)
  return { cause, requestId, traceparent: sampler.traceOf(caller, false)?.traceparent }
}

/** The metadata of an answer. */
export function requestIdMetadata({ requestId }: Origin): Metadata {
  const metadata = new Metadata()
  if (requestId !== null) metadata.set(REQUEST_ID_METADATA, requestId)
  return metadata
}
