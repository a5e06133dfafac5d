/**
 * Checks the operator and tenant named in a request against its authenticated caller.
 *
 * - The actor gets the name of the authenticated caller; a request that names another actor is
 *   rejected.
 * - What an operator wrote has no control or format characters: another operator reads it.
 * - An internal service that is bound to partners acts for no other.
 * - It is applied to every handler of the server, so no handler can omit it.
 */
import type {
  Metadata,
  sendUnaryData,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  ServiceError,
  UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Actor__Output as WireActor } from '../../../protos/types/causeway/operator/v1/Actor.js'
import type { Tenant__Output as Tenant } from '../../../protos/types/causeway/v1/Tenant.js'
import { callerOf } from '../../auth/caller.js'
import { accepted, refused, type Outcome, type Refusal } from '../../base/errors.js'
import { isVisibleText, VISIBLE_TEXT_RULE } from '../../base/visible_text.js'
import { violationAt } from '../../api/checks/schema_violation.js'
import { endStream, grpcError } from './grpc_error.js'
import { fieldViolation } from './status_details.js'

/** Members of requests that name the operator and the tenant. */
interface NamedParties {
  readonly actor?: WireActor | null
  readonly tenant?: Tenant | null
  /** What an operator wrote. */
  readonly evidence?: string
  readonly reference?: string
}

type Handlers = UntypedServiceImplementation
type Unary = (call: ServerUnaryCall<NamedParties, unknown>, done: sendUnaryData<unknown>) => void
type Streaming = (stream: ServerWritableStream<NamedParties, unknown>) => void

/** Streams of requests name no parties: they are open to our own processes only. */
export function withAuthenticatedCaller(
  definition: ServiceDefinition,
  handlers: Handlers,
): Handlers {
  const wrapped = Object.entries(definition).map(([name, { requestStream, responseStream }]) => {
    const handler = handlers[name]
    if (handler === undefined) throw new Error(`${name} has no handler`)
    if (requestStream) return [name, handler]
    return [name, responseStream ? streaming(handler as Streaming) : unary(handler as Unary)]
  })
  return Object.fromEntries(wrapped) as Handlers
}

const unary =
  (handler: Unary): Unary =>
  (call, done) => {
    const checked = authenticatedRequest(call.request, call.metadata)
    if (!checked.ok) return done(errorOf(checked))
    call.request = checked.value
    handler(call, done)
  }

const streaming =
  (handler: Streaming): Streaming =>
  (stream) => {
    const checked = authenticatedRequest(stream.request, stream.metadata)
    if (!checked.ok) return endStream(stream, checked.code)
    stream.request = checked.value
    handler(stream)
  }

function authenticatedRequest(request: NamedParties, metadata: Metadata): Outcome<NamedParties> {
  const caller = callerOf(metadata)
  if (caller === undefined) return refused('authentication_failed')
  const { actor, tenant } = request
  if (caller.partners !== null && !caller.partners.includes(tenant?.partner_id ?? '')) {
    return refused('permission_denied')
  }
  if (!actor) return accepted(request)
  if (actor.name !== '' && actor.name !== caller.name) return refused('operator_name_differs')
  const { evidence = '', reference = '' } = request
  for (const [path, text] of [
    [['actor', 'reason'], actor.reason],
    [['evidence'], evidence],
    [['reference'], reference],
  ] as const) {
    if (!isVisibleText(text))
      return refused('invalid_request', violationAt(path, VISIBLE_TEXT_RULE))
  }
  return accepted({ ...request, actor: { ...actor, name: caller.name } })
}

const errorOf = ({ code, violation }: Refusal): ServiceError =>
  grpcError(code, violation && [fieldViolation('', violation)])
