/**
 * Calls that set something for all partners: in a cluster they append it to the settings for all
 * shards, each of which applies it by itself (cluster/shared_settings).
 *
 * - The setting is checked before it is appended, so each shard can apply it, and one operator does
 *   not make a change that needs two.
 * - The answer names its version. It says that the setting is stored, not that a shard has it.
 */
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { Actor__Output as WireActor } from '../../../../protos/types/causeway/operator/v1/Actor.js'
import type { ClusterSettings } from '../../../store/cluster/settings.js'
import type { Actor } from '../../changes/operator_log.js'
import { checkSetting, type SettingContent } from '../../commands/operators/shared_setting.js'
import { answer, refuse, type Answer } from '../../cycle/answer.js'
import type { Origin } from '../../cycle/origin.js'
import { grpcError, refusalError } from '../grpc_error.js'
import { originOf, requestIdMetadata } from '../request_id.js'
import { actorIn, decided, ownWork, type UnaryDependencies } from '../unary_handler.js'

export type SettingLog = Pick<ClusterSettings, 'appendSetting'>

interface Setting {
  readonly content: SettingContent
  /** The answer, without the version. */
  readonly view: object
}

/** Appends a setting that is checked or approved. */
export async function appendSetting(
  cluster: SettingLog,
  { content, view }: Setting,
  { name, reason }: Actor,
  { requestId }: Origin,
): Promise<Answer> {
  return cluster.appendSetting({ ...content, actor: name, reason, requestId }).then(
    (version) => answer({ ...view, settings_version: version }),
    () => refuse('configuration_error'),
  )
}

interface SettingRequest {
  readonly actor: WireActor | null
  readonly force?: boolean
}

/**
 * @param cluster undefined if the call is about the books of this processor, and `handler` takes it
 * @param settingOf null if the request is invalid
 */
export function sharedSetting<Request extends SettingRequest, Response>(
  dependencies: UnaryDependencies,
  cluster: SettingLog | undefined,
  settingOf: (request: Request) => Setting | null,
  handler: handleUnaryCall<Request, Response>,
): handleUnaryCall<Request, Response> {
  if (cluster === undefined) return handler
  const store = async (actor: Actor, setting: Setting, force: boolean, origin: Origin) => {
    const check = ownWork(checkSetting(actor, setting.content, force))
    const checked = await decided(dependencies, requestIdMetadata(origin), check)
    return checked.ok ? appendSetting(cluster, setting, actor, origin) : checked
  }
  return (call, callback) => {
    const actor = actorIn(call.request.actor)
    const setting = settingOf(call.request)
    if (actor === null || setting === null) return callback(grpcError('invalid_request'))
    const origin = originOf(call.metadata, 'operator', dependencies)
    void store(actor, setting, call.request.force === true, origin).then((stored) => {
      call.sendMetadata(requestIdMetadata(origin))
      if (stored.ok) callback(null, stored.view as Response)
      else callback(refusalError(stored))
    })
  }
}
