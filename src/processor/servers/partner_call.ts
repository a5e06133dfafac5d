/**
 * Handlers of internal services' calls: each runs an operation of the partner API, in the queue of
 * the tenant that the call names, with the commands and queries of the gateways' operations.
 *
 * Does not own: the operations (operations.ts), the order of queues.
 */
import type { handleUnaryCall, ServiceError } from '@grpc/grpc-js'
import type { Command__Output as WireCommand } from '../../../protos/types/causeway/internal/v1/Command.js'
import type { Tenant__Output as Tenant } from '../../../protos/types/causeway/v1/Tenant.js'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { invalid, type Refusal } from '../../base/errors.js'
import { plus, type Instant } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import type { Answer } from '../cycle/answer.js'
import type { Command } from '../cycle/command.js'
import { consumeNonce } from '../commands/partners/nonce_consume.js'
import type { Query } from '../queries/query.js'
import { objectOf } from '../queries/raw_json.js'
import type { WebhookPools } from '../queries/webhook_pools.js'
import { grpcError } from './grpc_error.js'
import type { MessageFault } from './message_check.js'
import { operationOf, type CommandOperation } from './operations.js'
import { originOf, requestIdMetadata } from './request_id.js'
import { fieldViolation, type FieldViolation } from './status_details.js'
import { tenantIn, type UnaryDependencies } from './unary_handler.js'

export interface CallContext {
  readonly tenant: TenantId
  readonly now: Instant
  readonly pools: WebhookPools
}

/** The operation that a request means, or its refusal before a command. */
export type Decoded = Rooted & (CommandOperation | MalformedRequest)

interface Rooted {
  /** The field of the request that holds the body; absent: the request itself. */
  readonly root?: string
}

interface MalformedRequest {
  readonly refusal: Refusal
}

interface Named {
  readonly tenant: Tenant | null
}

/** Creates the handlers of one server. */
export type PartnerCall = <Request extends Named, Response>(
  decode: (request: Request, ctx: CallContext) => Decoded,
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

type OperationName = Exclude<
  keyof WireCommand,
  'operation' | 'ticket' | 'budget_ms' | 'tenant' | 'signed_by' | 'consume_nonce_only' | symbol
>

/** The operation of this name, as a gateway would send it. */
export function operation<Name extends OperationName>(
  { tenant, now, pools }: CallContext,
  name: Name,
  message: NonNullable<WireCommand[Name]>,
): CommandOperation {
  const wire = { tenant, operation: name, [name]: message } as unknown as WireCommand
  return operationOf(wire, now, pools)
}

/** The operation of the message, which must be present and valid. */
export function given<Name extends OperationName, Message extends WireCommand[Name]>(
  ctx: CallContext,
  name: Name,
  field: string,
  message: Message | null,
  faultOf: (message: NonNullable<Message>) => MessageFault = () => null,
): Decoded {
  if (!message) return { refusal: invalid(`/${field}`, 'is required') }
  const refusal = faultOf(message)
  return { root: field, ...(refusal === null ? operation(ctx, name, message) : { refusal }) }
}

export const command = (of: Command): CommandOperation => ({ command: of, query: null })

/** A query that no command precedes: there is no nonce to consume. */
export const query = (of: Query): CommandOperation => ({ command: consumeNonce(), query: () => of })
