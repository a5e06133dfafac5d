/**
 * One unary call as one command of the cycle.
 *
 * - Internal services take the same way as everybody: queue, decision, commit, answer. Only lists
 *   are read beside it.
 */
import type { handleUnaryCall } from '@grpc/grpc-js'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { plus, type Clock } from '../../base/clock.js'
import { tenantOf, type PartnerId, type TenantId } from '../../base/ids.js'
import type { Tenant__Output as Tenant } from '../../../protos/types/causeway/v1/Tenant.js'
import type { Answer } from '../cycle/answer.js'
import type { Command } from '../cycle/command.js'
import type { QueueKey } from '../cycle/command.js'
import type { Memory } from '../cache/memory.js'
import type { Pipeline } from '../cycle/pipeline.js'
import type { Query, Reader } from '../queries/query.js'
import { objectOf } from '../queries/raw_json.js'
import { grpcError, type AuthInterceptor } from './auth_interceptor.js'

export interface UnaryDependencies {
  readonly clock: Clock
  readonly memory: Memory
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly reader: Reader
  readonly auth: AuthInterceptor
}

/** Makes the handler of a call whose request becomes one command; null refuses it as invalid. */
export function unary<Request, Response>(
  { clock, pipeline, auth }: UnaryDependencies,
  commandOf: (request: Request) => { queueKey: QueueKey; command: Command } | null,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    if (!auth.admits(call.metadata)) return callback(auth.refusal())
    const found = commandOf(call.request)
    if (found === null) return callback(grpcError('invalid_request'))
    pipeline.submit({
      ...found,
      deadline: plus(clock.now(), ANSWER_WITHIN_MS),
      signedBy: null,
      reply: (answer) => {
        if (answer.ok) callback(null, answer.view as Response)
        else callback(grpcError(answer.code))
      },
    })
  }
}

/** The answer of a command that is a part of its call. */
export function decided(
  { clock, pipeline }: Pick<UnaryDependencies, 'clock' | 'pipeline'>,
  work: { readonly queueKey: QueueKey; readonly command: Command },
): Promise<Answer> {
  return new Promise((reply) => {
    const deadline = plus(clock.now(), ANSWER_WITHIN_MS)
    pipeline.submit({ ...work, deadline, signedBy: null, reply })
  })
}

/** Makes the handler of a call that reads a list; null refuses it as invalid. */
export function unaryQuery<Request, Response>(
  { reader, auth }: UnaryDependencies,
  queryOf: (request: Request) => Query | null,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    if (!auth.admits(call.metadata)) return callback(auth.refusal())
    const query = queryOf(call.request)
    if (query === null) return callback(grpcError('invalid_request'))
    void reader
      .run(query, () => !call.cancelled)
      .then((answer) => {
        if (answer.ok) callback(null, objectOf(answer.view) as Response)
        else callback(grpcError(answer.code))
      })
  }
}

/** The tenant that a call names, when its partner exists. */
export function tenantIn(memory: Memory, named: Tenant | null): TenantId | null {
  if (named === null || !memory.partners.has(named.partner_id as PartnerId)) return null
  if (named.environment !== 'sandbox' && named.environment !== 'production') return null
  return tenantOf(named.partner_id as PartnerId, named.environment)
}
