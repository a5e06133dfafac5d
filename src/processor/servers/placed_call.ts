/**
 * In a cluster, places a partner in this shard before a call that creates it runs.
 *
 * - A call for a partner that another shard has is refused with `not_here`; the trailer
 *   `causeway-processor` names the processor that served that shard last.
 */
import type { handleUnaryCall, ServiceError } from '@grpc/grpc-js'
import { isPartnerId } from '../../auth/request_shape.js'
import { crashPoint } from '../../base/crash_point.js'
import type { Place } from '../../store/cluster/cluster.js'
import { grpcError } from './grpc_error.js'

const PROCESSOR_TRAILER = 'causeway-processor'

export interface Placements {
  /** The shard that this processor serves. */
  readonly shard: string
  /** Undefined means that the partner is not placed. */
  whereIs(partner: string): Promise<Place | undefined>
  /** Places a partner here unless it is placed. @returns null when it is here */
  place(partner: string): Promise<Place | null>
}

export function placedCall<Request, Response>(
  placements: Placements | undefined,
  partnerOf: (request: Request) => string,
  handler: handleUnaryCall<Request, Response>,
): handleUnaryCall<Request, Response> {
  if (placements === undefined) return handler
  return (call, callback) => {
    const partner = partnerOf(call.request)
    if (!isPartnerId(partner)) return handler(call, callback)
    placements.place(partner).then(
      (place) => {
        crashPoint('placement.placed')
        if (place === null) handler(call, callback)
        else callback(notHere(place))
      },
      () => callback(grpcError('configuration_error')),
    )
  }
}

export function notHere({ address }: Place): ServiceError {
  const error = grpcError('not_here')
  if (address !== '') error.metadata.set(PROCESSOR_TRAILER, address)
  return error
}
