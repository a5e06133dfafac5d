/** Is there this endpoint? Spends the nonce of a call whose answer only the webhook pools know. */
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { endpointOf } from '../../changes/webhook_endpoints.js'

export function nameWebhookEndpoint(tenant: TenantId, id: string): Command {
  return {
    name: 'name_webhook_endpoint',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory }) =>
      endpointOf(memory, tenant, id) === undefined
        ? refuse('webhook_endpoint_not_found')
        : answer({}),
  }
}
