/**
 * Handlers of internal services' calls: each runs an operation of the partner API, in the queue of
 * the tenant that the call names, with the actions and checks of the gateways' operations.
 *
 * Does not own: the operations (src/api, operations.ts), the order of queues.
 */
import type { handleUnaryCall, ServiceError } from '@grpc/grpc-js'
import type { Tenant__Output as Tenant } from '../../../protos/types/causeway/v1/Tenant.js'
import type { OperationName } from '../../api/operation.js'
import { OPERATIONS } from '../../api/operations.js'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { invalid, type Refusal } from '../../base/errors.js'
import { plus } from '../../base/clock.js'
import type { Answer } from '../cycle/answer.js'
import { objectOf } from '../queries/raw_json.js'
import type { WebhookPools } from '../queries/webhook_pools.js'
import { grpcError } from './grpc_error.js'
import { messageFault } from './message_check.js'
import { actionOf } from './operations.js'
import type { ActionContext, CommandOperation } from './operations/action.js'
import { originOf, requestIdMetadata } from './request_id.js'
import { fieldViolation, type FieldViolation } from './status_details.js'
import { tenantIn, type UnaryDependencies } from './unary_handler.js'

/** The operation that a request means, or its refusal before a command. */
export type Decoded = Rooted & (CommandOperation | MalformedRequest)

interface Rooted {
  /** The field of the request that holds the body. Absent if it is the request itself. */
  readonly root?: string
}

interface MalformedRequest {
  readonly refusal: Refusal
}

export interface Named {
  readonly tenant: Tenant | null
}

/** Creates the handlers of one server. */
export type PartnerCall = <Request extends Named, Response>(
  decode: (request: Request, ctx: ActionContext) => Decoded,
  shape?: (view: object) => object,
) => handleUnaryCall<Request, Response>

export const partnerCalls =
  (dependencies: UnaryDependencies, pools: WebhookPools): PartnerCall =>
  (decode, shape = (view) => view) => {
    const { clock, memory, pipeline, reader } = dependencies
    return (call, callback) => {
      const tenant = tenantIn(memory, call.request.tenant)
      if (tenant === null) return callback(grpcError('invalid_request', [TENANT]))
      const now = clock.now()
      const decoded = decode(call.request, { tenant, now, pools })
      const { root = '' } = decoded
      if ('refusal' in decoded) return callback(refusedAt(root, decoded.refusal))
      const { command, query } = decoded
      const origin = originOf(call.metadata, 'request', dependencies)
      const deadline = plus(now, ANSWER_WITHIN_MS)
      const reply = (answer: Answer): void => {
        call.sendMetadata(requestIdMetadata(origin))
        if (answer.ok) return callback(null, shape(objectOf(answer.view)) as never)
        callback(refusedAt(root, answer))
      }
      const isAwaited = (): boolean => !call.cancelled && clock.now() <= deadline
      pipeline.submit({
        queueKey: tenant,
        command,
        origin,
        deadline,
        signedBy: null,
        reply: (answer) => {
          if (query === null || !answer.ok) reply(answer)
          else void reader.run(query(answer.view), isAwaited).then(reply)
        },
      })
    }
  }

const refusedAt = (root: string, { code, violation }: Refusal): ServiceError =>
  grpcError(code, violation && [fieldViolation(root, violation)])

const TENANT: FieldViolation = {
  field: 'tenant',
  description: 'must name a partner and one of its environments',
}

type Handlers = Readonly<Record<string, handleUnaryCall<Named, unknown>>>

/** The handlers of a service of the public contracts, as far as its operations say them. */
export function callsOf(service: string, call: PartnerCall): Handlers {
  const names = (Object.keys(OPERATIONS) as OperationName[]).filter((name) =>
    OPERATIONS[name].rpc.startsWith(`${service}.`),
  )
  const rpcOf = (name: OperationName): string => OPERATIONS[name].rpc.slice(service.length + 1)
  return Object.fromEntries(
    names.map((name) => [rpcOf(name), call((request, ctx) => decoded(name, request, ctx))]),
  )
}

/** The operation of a call's request. */
export function decoded(
  name: OperationName,
  { tenant: _, ...request }: Named,
  ctx: ActionContext,
): Decoded {
  const { rpcField: field, isRpcFieldMember = false } = OPERATIONS[name]
  if (field === undefined) return checked(name, request, ctx)
  const held = (request as Readonly<Record<string, object | null>>)[field]
  if (!held) return { refusal: invalid(`/${field}`, 'is required') }
  return { root: field, ...checked(name, isRpcFieldMember ? { [field]: held } : held, ctx) }
}

/** The operation of a message, or the fault of the message. */
export function checked(name: OperationName, message: object, ctx: ActionContext): Decoded {
  const refusal = messageFault(name, message)
  return refusal === null ? actionOf(name, message, ctx) : { refusal }
}
