/**
 * Maps the gateway operations on webhook endpoints and events to commands and queries.
 *
 * - A pool is queried only after the cycle has consumed the nonce and checked that the endpoint
 *   belongs to the caller.
 */
import type { Command__Output as WireCommand } from '../../../protos/types/causeway/internal/v1/Command.js'
import type { TenantId } from '../../base/ids.js'
import { refusedInRecovery, type Command } from '../cycle/command.js'
import { consumeNonce, unknownOperation } from '../commands/partners/nonce_consume.js'
import { createWebhookEndpoint } from '../commands/webhook_endpoints/webhook_endpoint_create.js'
import { deleteWebhookEndpoint } from '../commands/webhook_endpoints/webhook_endpoint_delete.js'
import {
  checkWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
} from '../commands/webhook_endpoints/webhook_endpoint_get.js'
import { switchWebhookEndpoint } from '../commands/webhook_endpoints/webhook_endpoint_switch.js'
import { testWebhookEndpoint } from '../commands/webhook_endpoints/webhook_endpoint_test.js'
import { updateWebhookEndpoint } from '../commands/webhook_endpoints/webhook_endpoint_update.js'
import { rotateWebhookSecret } from '../commands/webhook_endpoints/webhook_secret_rotate.js'
import { listDeliveries } from '../queries/delivery_list.js'
import { recoverEndpoint } from '../queries/endpoint_recover.js'
import { listEvents } from '../queries/event_list.js'
import { resendEvent } from '../queries/event_resend.js'
import type { WebhookPools } from '../queries/webhook_pools.js'
import type { CommandOperation } from './operations.js'

export function webhookOperation(wire: WireCommand, pools: WebhookPools): CommandOperation {
  const tenant = wire.tenant as TenantId
  switch (wire.operation) {
    case 'list_deliveries': {
      const { endpoint_id } = wire.list_deliveries!
      const query = listDeliveries(pools, tenant, wire.list_deliveries!)
      return { command: checkWebhookEndpoint(tenant, endpoint_id), query: () => query }
    }
    case 'recover_webhook_endpoint': {
      const { endpoint_id } = wire.recover_webhook_endpoint!
      const query = recoverEndpoint(pools, tenant, wire.recover_webhook_endpoint!)
      const command = refusedInRecovery(checkWebhookEndpoint(tenant, endpoint_id))
      return { command, query: () => query }
    }
    case 'resend_event': {
      const { endpoint_id } = wire.resend_event!
      const query = resendEvent(pools, tenant, wire.resend_event!)
      const command =
        endpoint_id === undefined ? consumeNonce() : checkWebhookEndpoint(tenant, endpoint_id)
      return { command: refusedInRecovery(command), query: () => query }
    }
    case 'list_events':
      const query = listEvents(tenant, wire.list_events!)
      return { command: consumeNonce(), query: () => query }
    default:
      return { command: commandOf(wire, tenant), query: null }
  }
}

function commandOf(wire: WireCommand, tenant: TenantId): Command {
  switch (wire.operation) {
    case 'create_webhook_endpoint':
      return createWebhookEndpoint(tenant, wire.create_webhook_endpoint!)
    case 'get_webhook_endpoint':
      return getWebhookEndpoint(tenant, wire.get_webhook_endpoint!.endpoint_id)
    case 'list_webhook_endpoints':
      return listWebhookEndpoints(tenant)
    case 'update_webhook_endpoint':
      return updateWebhookEndpoint(tenant, wire.update_webhook_endpoint!)
    case 'delete_webhook_endpoint':
      return deleteWebhookEndpoint(tenant, wire.delete_webhook_endpoint!.endpoint_id)
    case 'enable_webhook_endpoint':
      return switchWebhookEndpoint(tenant, wire.enable_webhook_endpoint!.endpoint_id, 'enabled')
    case 'disable_webhook_endpoint':
      return switchWebhookEndpoint(tenant, wire.disable_webhook_endpoint!.endpoint_id, 'disabled')
    case 'rotate_webhook_secret':
      return rotateWebhookSecret(tenant, wire.rotate_webhook_secret!)
    case 'test_webhook_endpoint':
      return testWebhookEndpoint(tenant, wire.test_webhook_endpoint!.endpoint_id)
    default:
      return unknownOperation() // from a newer gateway
  }
}
