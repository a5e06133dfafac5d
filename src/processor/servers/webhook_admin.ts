/**
 * The operators' calls about webhooks.
 *
 * - A redrive is recorded in the operators' log before it is sent to a pool, so it is on record
 *   even when the response is lost.
 */
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { RedriveDone } from '../../../protos/types/causeway/operator/v1/RedriveDone.js'
import type { RedriveRequest__Output as RedriveRequest } from '../../../protos/types/causeway/operator/v1/RedriveRequest.js'
import type { WebhookAdminHandlers } from '../../../protos/types/causeway/operator/v1/WebhookAdmin.js'
import { instant, isMoment, toRfc3339 } from '../../base/clock.js'
import type { EndpointId } from '../../base/ids.js'
import { refusedInRecovery } from '../cycle/command.js'
import { noteAction } from '../commands/operators/action_note.js'
import { switchAnyEndpoint } from '../commands/webhook_endpoints/webhook_endpoint_switch.js'
import {
  listAllEndpoints,
  listDead,
  listPoison,
  redrive,
  webhookStatus,
} from '../queries/webhook_admin.js'
import type { WebhookPools } from '../queries/webhook_pools.js'
import { grpcError } from './grpc_error.js'
import { operatorWork, unary, unaryQuery, type UnaryDependencies } from './unary_handler.js'

export function webhookAdminService(
  dependencies: UnaryDependencies,
  pools: WebhookPools,
): WebhookAdminHandlers {
  const { memory } = dependencies
  return {
    Status: unaryQuery(dependencies, () => webhookStatus(pools)),
    ListEndpoints: unaryQuery(dependencies, () => listAllEndpoints(pools, memory)),
    ListDead: unaryQuery(dependencies, (request) => listDead(pools, request)),
    Redrive: loggedRedrive(dependencies, pools),
    EnableEndpoint: unary(dependencies, ({ actor, endpoint_id }) =>
      operatorWork(actor, (a) => switchAnyEndpoint(a, endpoint_id, 'enabled')),
    ),
    DisableEndpoint: unary(dependencies, ({ actor, endpoint_id }) =>
      operatorWork(actor, (a) => switchAnyEndpoint(a, endpoint_id, 'disabled')),
    ),
    ListPoison: unaryQuery(dependencies, (request) => listPoison(pools, request)),
  }
}

function loggedRedrive(
  dependencies: UnaryDependencies,
  pools: WebhookPools,
): handleUnaryCall<RedriveRequest, RedriveDone> {
  const { memory } = dependencies
  const log = unary<RedriveRequest, RedriveDone>(dependencies, (request) =>
    operatorWork(request.actor, (a) => refusedInRecovery(noteAction(a, noteOf(request)))),
  )
  const redrives = unaryQuery<RedriveRequest, RedriveDone>(dependencies, (request) =>
    redrive(pools, request),
  )
  return (call, callback) => {
    const { endpoint_id: id, since } = call.request
    if (!isMoment(Number(since))) return callback(grpcError('invalid_request'))
    const isUnknown = id !== undefined && !memory.endpoints.has(id as EndpointId)
    if (isUnknown) return callback(grpcError('webhook_endpoint_not_found'))
    log(call, (fault) => (fault ? callback(fault) : redrives(call, callback)))
  }
}

function noteOf({ delivery_id, endpoint_id, since }: RedriveRequest) {
  const from = toRfc3339(instant(Number(since)))
  const failed = `${endpoint_id ?? 'all endpoints'} since ${from}`
  return { action: 'webhook_redrive', subject: delivery_id ?? failed }
}
