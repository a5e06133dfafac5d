/**
 * In a cluster, refuses calls about a partner of another shard with `not_here` and the address of
 * the processor that serves it.
 *
 * - It is applied to every handler of the server, so no handler can omit it. For a partner of this
 *   processor it costs one look-up in memory.
 * - A call whose partner leaves these books meanwhile is refused for a while: it saw them change.
 * - For a partner without a placement the handler runs: it refuses the call or creates the partner.
 */
import type {
  sendUnaryData,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  ServiceError,
  UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Tenant__Output as Tenant } from '../../../protos/types/causeway/v1/Tenant.js'
import type { PartnerId } from '../../base/ids.js'
import type { Memory } from '../cache/memory.js'
import { grpcError } from './grpc_error.js'
import { notHere, type Placements } from './placed_call.js'

/** Members of requests that name a partner. */
interface Naming {
  readonly tenant?: Tenant | null
  readonly partner_id?: string
}

type Handlers = UntypedServiceImplementation
type Unary = (call: ServerUnaryCall<Naming, unknown>, done: sendUnaryData<unknown>) => void
type Streaming = (stream: ServerWritableStream<Naming, unknown>) => void

/** Runs the handler, or refuses the call. */
type Placed = (
  request: Naming,
  run: (isHere: () => boolean) => void,
  refuse: (error: ServiceError) => void,
) => void

export function withPlacedPartner(
  definition: ServiceDefinition,
  handlers: Handlers,
  memory: Pick<Memory, 'partners'>,
  placements: Placements | undefined,
): Handlers {
  if (placements === undefined) return handlers
  const placed: Placed = ({ tenant, partner_id }, run, refuse) => {
    const partner = tenant?.partner_id ?? partner_id ?? ''
    const isHere = (): boolean => partner === '' || memory.partners.has(partner as PartnerId)
    if (isHere()) return run(isHere)
    placements.whereIs(partner).then(
      (place) => {
        if (place === undefined || place.shard === placements.shard) run(() => true)
        else refuse(notHere(place))
      },
      () => refuse(grpcError('configuration_error')),
    )
  }
  const wrapped = Object.entries(handlers).map(([name, handler]) => {
    const method = definition[name]
    if (method === undefined || method.requestStream) return [name, handler]
    const isStream = method.responseStream
    return [name, isStream ? stream(placed, handler as Streaming) : unary(placed, handler as Unary)]
  })
  return Object.fromEntries(wrapped) as Handlers
}

const unary =
  (placed: Placed, handler: Unary): Unary =>
  (call, done) =>
    placed(
      call.request,
      (isHere) =>
        handler(call, (...answer) =>
          isHere() ? done(...answer) : done(grpcError('configuration_error')),
        ),
      done,
    )

/** grpc-js sends the status of an emitted error. */
const stream =
  (placed: Placed, handler: Streaming): Streaming =>
  (opened) =>
    placed(
      opened.request,
      () => handler(opened),
      (error) => void opened.emit('error', error),
    )
