/**
 * Calls that set something for all partners: in a cluster they append it to the settings for all
 * shards, each of which applies it by itself (cluster/shared_settings).
 *
 * - The setting is validated before it is appended, so each shard can apply it.
 * - The answer names its version. It says that the setting is stored, not that a shard has it.
 */
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { Actor__Output as WireActor } from '../../../../protos/types/causeway/operator/v1/Actor.js'
import type { ClusterSettings } from '../../../store/postgres/cluster/settings.js'
import type { SettingContent } from '../../commands/operators/shared_setting.js'
import { grpcError } from '../grpc_error.js'
import { originOf, requestIdMetadata } from '../request_id.js'
import { actorIn, type UnaryDependencies } from '../unary_handler.js'

export type SettingLog = Pick<ClusterSettings, 'appendSetting'>

interface Setting {
  readonly content: SettingContent
  /** The answer, without the version. */
  readonly view: object
}

/**
 * @param cluster undefined: the call is about the books of this processor, and `handler` takes it
 * @param settingOf null: the request is invalid
 */
export function sharedSetting<Request extends { readonly actor: WireActor | null }, Response>(
  dependencies: UnaryDependencies,
  cluster: SettingLog | undefined,
  settingOf: (request: Request) => Setting | null,
  handler: handleUnaryCall<Request, Response>,
): handleUnaryCall<Request, Response> {
  if (cluster === undefined) return handler
  return (call, callback) => {
    const actor = actorIn(call.request.actor)
    const setting = settingOf(call.request)
    if (actor === null || setting === null) return callback(grpcError('invalid_request'))
    const origin = originOf(call.metadata, 'operator', dependencies)
    const { name, reason } = actor
    const { requestId } = origin
    cluster.appendSetting({ ...setting.content, actor: name, reason, requestId }).then(
      (version) => {
        call.sendMetadata(requestIdMetadata(origin))
        callback(null, { ...setting.view, settings_version: version } as Response)
      },
      () => callback(grpcError('configuration_error')),
    )
  }
}
