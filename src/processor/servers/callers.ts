/**
 * The operators' calls about callers of gRPC.
 *
 * - In a cluster a new or rotated caller is a setting for all shards, which each of them applies.
 *   In recovery mode settings wait, and the books of this processor have it alone.
 * - A revocation is made in the own books at once, and then appended for the other shards. It can
 *   be repeated until it is.
 */
import type { handleUnaryCall, sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import type { Actor__Output as WireActor } from '../../../protos/types/causeway/operator/v1/Actor.js'
import type { CallerRecord } from '../../../protos/types/causeway/operator/v1/CallerRecord.js'
import type { CallersHandlers } from '../../../protos/types/causeway/operator/v1/Callers.js'
import type { ChangeCallerRequest__Output as ChangeCaller } from '../../../protos/types/causeway/operator/v1/ChangeCallerRequest.js'
import { callerOf } from '../../auth/caller.js'
import type { Callers } from '../../auth/callers.js'
import type { ClusterSettings } from '../../store/cluster/settings.js'
import { callerView } from '../changes/callers.js'
import type { Actor } from '../changes/operator_log.js'
import { createCaller } from '../commands/callers/caller_create.js'
import { listCallers, revokeCaller } from '../commands/callers/caller_revoke.js'
import { rotateCaller } from '../commands/callers/caller_rotate.js'
import { CALLER, callerSetting, isRevokedIn } from '../commands/callers/caller_setting.js'
import type { SettingContent } from '../commands/operators/shared_setting.js'
import { refuse, answer as accept, type Answer } from '../cycle/answer.js'
import type { Command } from '../cycle/command.js'
import type { Origin } from '../cycle/origin.js'
import { grpcError, refusalError } from './grpc_error.js'
import { appendSetting } from './operator/shared_settings.js'
import type { Placements } from './placed_call.js'
import { originOf, requestIdMetadata } from './request_id.js'
import { actorIn, decided, ownWork, unary, type UnaryDependencies } from './unary_handler.js'

type SharedCallers = Pick<ClusterSettings, 'appendSetting' | 'newestSettings'>

interface Change {
  readonly actor: WireActor | null
}

/** @param cluster undefined if these are the only books */
export function callersService(
  dependencies: UnaryDependencies,
  callers: Callers,
  placements?: Pick<Placements, 'whereIs'>,
  cluster?: SharedCallers,
): CallersHandlers {
  const isShared = cluster !== undefined
  const { memory } = dependencies

  const changed =
    <Request extends Change, Response>(
      change: (request: Request, actor: Actor, origin: Origin) => Promise<Answer>,
    ): handleUnaryCall<Request, Response> =>
    (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): void => {
      const actor = actorIn(call.request.actor)
      if (actor === null) return callback(grpcError('invalid_request'))
      const origin = originOf(call.metadata, 'operator', dependencies)
      const done = (outcome: Answer): void => {
        call.sendMetadata(requestIdMetadata(origin))
        if (outcome.ok) callback(null, outcome.view as Response)
        else callback(refusalError(outcome))
      }
      change(call.request, actor, origin).then(done, () => done(refuse('configuration_error')))
    }

  /** Runs the command, and appends the setting that its answer has. */
  const stored = async (command: Command, actor: Actor, origin: Origin): Promise<Answer> => {
    const outcome = await decided(dependencies, requestIdMetadata(origin), ownWork(command))
    if (!outcome.ok) return outcome
    const { setting: content, ...view } = outcome.view as { readonly setting?: SettingContent }
    if (cluster === undefined || content === undefined) return outcome
    return appendSetting(cluster, { content, view }, actor, origin)
  }

  const elsewhere = async (partners: readonly string[]): Promise<readonly string[]> => {
    if (placements === undefined) return []
    const placed = await Promise.all(partners.map((id) => placements.whereIs(id)))
    return partners.filter((_, i) => placed[i] !== undefined)
  }

  const revoked = async (name: string, actor: Actor, origin: Origin): Promise<Answer> => {
    const work = ownWork(revokeCaller(actor, callers, name))
    const outcome = await decided(dependencies, requestIdMetadata(origin), work)
    if (cluster === undefined) return outcome
    if (!outcome.ok && outcome.code !== 'caller_revoked') return outcome
    const found = memory.callers.get(name)
    if (found === undefined) return outcome
    const newest = (await cluster.newestSettings()).find(
      ({ kind, key }) => kind === CALLER && key === name,
    )
    const view = callerView(found, callers)
    if (newest !== undefined && isRevokedIn(newest))
      return outcome.ok ? accept({ ...view, settings_version: newest.version }) : outcome
    const content = callerSetting('revoke_caller', found)
    return appendSetting(cluster, { content, view }, actor, origin)
  }

  return {
    Identify: ({ metadata }, done) => {
      const caller = callerOf(metadata)
      if (caller === undefined) done(grpcError('authentication_failed'))
      else done(null, { name: caller.name, roles: [...caller.roles] })
    },
    List: unary(dependencies, () => ownWork(listCallers(callers))),
    Create: changed(async ({ actor: _, token_sha256, ...given }, actor, origin) => {
      const digest = token_sha256 === undefined ? {} : { tokenSha256: token_sha256 }
      const whole = { ...given, ...digest, elsewhere: await elsewhere(given.partners) }
      return stored(createCaller(actor, callers, whole, isShared), actor, origin)
    }),
    Rotate: changed(({ name, token_sha256: digest }, actor, origin) =>
      stored(rotateCaller(actor, callers, name, digest, isShared), actor, origin),
    ),
    Revoke: changed<ChangeCaller, CallerRecord>(({ name }, actor, origin) =>
      revoked(name, actor, origin),
    ),
  }
}
