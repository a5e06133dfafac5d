/**
 * Deletes a webhook endpoint. Events not yet delivered to it are not delivered.
 *
 * - The row stays, marked as deleted, because past deliveries refer to it. Its secrets are removed.
 */
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { stageEndpoint } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'
import { endpointOf, endpointView } from '../../changes/webhook_endpoints.js'

export function deleteWebhookEndpoint(tenant: TenantId, id: string): Command {
  return {
    name: 'delete_webhook_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const endpoint = endpointOf(ctx.memory, tenant, id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')

      // From here on it must succeed.
      const deleted = { ...endpoint, status: 'deleted' } as const
      stageEndpoint(ctx, { ...deleted, secrets: [] })
      return answer(endpointView(deleted, ctx.now))
    },
  }
}
