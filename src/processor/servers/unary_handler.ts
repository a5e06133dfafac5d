/**
 * Handlers of unary gRPC calls: a call runs one command of the cycle, or one query.
 *
 * - Internal callers use the same queue, decision and commit as partners.
 * - An operator's change needs an actor with a reason; EnsureDemo is the only exception. The actor
 *   has the authenticated name (authenticated_caller).
 */
import type { handleUnaryCall, Metadata } from '@grpc/grpc-js'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { plus, type Clock } from '../../base/clock.js'
import { tenantOf, type PartnerId, type TenantId } from '../../base/ids.js'
import type { Random } from '../../base/random.js'
import type { Sampler } from '../../tracing/sampler.js'
import type { Actor__Output as WireActor } from '../../../protos/types/causeway/operator/v1/Actor.js'
import type { Tenant__Output as Tenant } from '../../../protos/types/causeway/v1/Tenant.js'
import type { Answer } from '../cycle/answer.js'
import type { Actor } from '../changes/operator_log.js'
import type { Command, QueueKey } from '../cycle/command.js'
import type { Memory } from '../cache/memory.js'
import type { Cause } from '../cycle/origin.js'
import type { Pipeline } from '../cycle/pipeline.js'
import type { Query, QueryRunner } from '../queries/query.js'
import { objectOf } from '../queries/raw_json.js'
import { grpcError, refusalError } from './grpc_error.js'
import { originOf, requestIdMetadata } from './request_id.js'

export interface UnaryDependencies {
  readonly clock: Clock
  readonly random: Random
  readonly sampler?: Sampler | undefined
  readonly memory: Memory
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly reader: QueryRunner
}

/** A command and the queue that it waits in. */
export interface QueuedCommand {
  readonly queueKey: QueueKey
  readonly command: Command
  /** Default: a request for a tenant's queue, an operator for the service's own. */
  readonly cause?: Cause
}

/** Creates the handler of a call that runs one command; null rejects it as invalid_request. */
export function unary<Request, Response>(
  dependencies: UnaryDependencies,
  commandOf: (request: Request) => QueuedCommand | null,
): handleUnaryCall<Request, Response> {
  const { clock, pipeline } = dependencies
  return (call, callback) => {
    const found = commandOf(call.request)
    if (found === null) return callback(grpcError('invalid_request'))
    const origin = originOf(call.metadata, causeOf(found), dependencies)
    pipeline.submit({
      ...found,
      origin,
      deadline: plus(clock.now(), ANSWER_WITHIN_MS),
      signedBy: null,
      reply: (answer) => {
        call.sendMetadata(requestIdMetadata(origin))
        if (answer.ok) callback(null, answer.view as Response)
        else callback(refusalError(answer))
      },
    })
  }
}

/** As `unary`, for a command that needs something from outside of the cycle first. */
export function unaryAfter<Request, Response, Ready>(
  dependencies: UnaryDependencies,
  prepare: (request: Request) => Promise<Ready>,
  commandOf: (request: Request, ready: Ready) => QueuedCommand | null,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    prepare(call.request).then(
      (ready) =>
        unary<Request, Response>(dependencies, (request) => commandOf(request, ready))(
          call,
          callback,
        ),
      () => callback(grpcError('configuration_error')),
    )
  }
}

/** Runs a command as one step of a call. */
export function decided(
  dependencies: Pick<UnaryDependencies, 'clock' | 'random' | 'sampler' | 'pipeline'>,
  metadata: Metadata,
  work: QueuedCommand,
): Promise<Answer> {
  const { clock, pipeline } = dependencies
  return new Promise((reply) => {
    const deadline = plus(clock.now(), ANSWER_WITHIN_MS)
    const origin = originOf(metadata, causeOf(work), dependencies)
    pipeline.submit({ ...work, origin, deadline, signedBy: null, reply })
  })
}

const causeOf = ({ queueKey, cause }: QueuedCommand): Cause =>
  cause ?? (queueKey === 'internal' ? 'operator' : 'request')

/** Creates the handler of a call that runs one query; null rejects it as invalid_request. */
export function unaryQuery<Request, Response>(
  { reader }: UnaryDependencies,
  queryOf: (request: Request) => Query | null,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const query = queryOf(call.request)
    if (query === null) return callback(grpcError('invalid_request'))
    void reader
      .run(query, () => !call.cancelled)
      .then((answer) => {
        if (answer.ok) callback(null, objectOf(answer.view) as Response)
        else callback(refusalError(answer))
      })
  }
}

/** The tenant named by a call; null when its partner does not exist. */
export function tenantIn(memory: Memory, named: Tenant | null): TenantId | null {
  if (named === null || !memory.partners.has(named.partner_id as PartnerId)) return null
  if (named.environment !== 'sandbox' && named.environment !== 'production') return null
  return tenantOf(named.partner_id as PartnerId, named.environment)
}

/** A command in the service's own queue; null stays null. */
export function ownWork(command: Command, cause?: Cause): QueuedCommand
export function ownWork(command: Command | null, cause?: Cause): QueuedCommand | null
export function ownWork(command: Command | null, cause: Cause = 'operator'): QueuedCommand | null {
  return command === null ? null : { queueKey: 'internal', command, cause }
}

/** The operator's command; null without an actor and a reason. */
export function actingAs(
  given: WireActor | null,
  commandOf: (actor: Actor) => Command,
): Command | null {
  const actor = actorIn(given)
  return actor && commandOf(actor)
}

/** Null without a name or a reason. */
export function actorIn(given: WireActor | null): Actor | null {
  if (given === null || given.name.trim() === '' || given.reason.trim() === '') return null
  return { name: given.name, reason: given.reason }
}

/** An operator's change in the service's own queue. */
export const operatorWork = (
  given: WireActor | null,
  commandOf: (actor: Actor) => Command,
): QueuedCommand | null => ownWork(actingAs(given, commandOf))
