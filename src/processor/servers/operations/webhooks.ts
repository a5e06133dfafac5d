/**
 * What the operations on webhook endpoints, deliveries and events do.
 *
 * - A pool is queried only after the cycle has consumed the nonce and checked that the endpoint
 *   belongs to the caller.
 */
import { refusedInRecovery } from '../../cycle/command.js'
import { consumeNonce } from '../../commands/partners/nonce_consume.js'
import { createWebhookEndpoint } from '../../commands/webhook_endpoints/webhook_endpoint_create.js'
import { deleteWebhookEndpoint } from '../../commands/webhook_endpoints/webhook_endpoint_delete.js'
import {
  checkWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
} from '../../commands/webhook_endpoints/webhook_endpoint_get.js'
import { switchWebhookEndpoint } from '../../commands/webhook_endpoints/webhook_endpoint_switch.js'
import { testWebhookEndpoint } from '../../commands/webhook_endpoints/webhook_endpoint_test.js'
import { updateWebhookEndpoint } from '../../commands/webhook_endpoints/webhook_endpoint_update.js'
import { rotateWebhookSecret } from '../../commands/webhook_endpoints/webhook_secret_rotate.js'
import { listDeliveries } from '../../queries/delivery_list.js'
import { recoverEndpoint } from '../../queries/endpoint_recover.js'
import { listEvents } from '../../queries/event_list.js'
import { resendEvent } from '../../queries/event_resend.js'
import { command, query, type ActionsOf } from './action.js'

export const WEBHOOK_ACTIONS: ActionsOf<
  | 'create_webhook_endpoint'
  | 'list_webhook_endpoints'
  | 'get_webhook_endpoint'
  | 'update_webhook_endpoint'
  | 'delete_webhook_endpoint'
  | 'enable_webhook_endpoint'
  | 'disable_webhook_endpoint'
  | 'rotate_webhook_secret'
  | 'test_webhook_endpoint'
  | 'list_deliveries'
  | 'recover_webhook_endpoint'
  | 'list_events'
  | 'resend_event'
> = {
  create_webhook_endpoint: (endpoint, { tenant }) =>
    command(createWebhookEndpoint(tenant, endpoint)),
  list_webhook_endpoints: (_, { tenant }) => command(listWebhookEndpoints(tenant)),
  get_webhook_endpoint: ({ endpoint_id: id }, { tenant }) =>
    command(getWebhookEndpoint(tenant, id)),
  update_webhook_endpoint: (changes, { tenant }) => command(updateWebhookEndpoint(tenant, changes)),
  delete_webhook_endpoint: ({ endpoint_id: id }, { tenant }) =>
    command(deleteWebhookEndpoint(tenant, id)),
  enable_webhook_endpoint: ({ endpoint_id: id }, { tenant }) =>
    command(switchWebhookEndpoint(tenant, id, 'enabled')),
  disable_webhook_endpoint: ({ endpoint_id: id }, { tenant }) =>
    command(switchWebhookEndpoint(tenant, id, 'disabled')),
  rotate_webhook_secret: (rotation, { tenant }) => command(rotateWebhookSecret(tenant, rotation)),
  test_webhook_endpoint: ({ endpoint_id: id }, { tenant }) =>
    command(testWebhookEndpoint(tenant, id)),
  list_deliveries: (list, { tenant, pools }) =>
    query(listDeliveries(pools, tenant, list), checkWebhookEndpoint(tenant, list.endpoint_id)),
  recover_webhook_endpoint: (recovery, { tenant, pools }) =>
    query(
      recoverEndpoint(pools, tenant, recovery),
      refusedInRecovery(checkWebhookEndpoint(tenant, recovery.endpoint_id)),
    ),
  list_events: (list, { tenant }) => query(listEvents(tenant, list)),
  resend_event: (event, { tenant, pools }) => {
    const { endpoint_id: id } = event
    const check = id === undefined ? consumeNonce() : checkWebhookEndpoint(tenant, id)
    return query(resendEvent(pools, tenant, event), refusedInRecovery(check))
  },
}
