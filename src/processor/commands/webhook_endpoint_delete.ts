/**
 * Takes a webhook endpoint away, for good. What it has not received yet is not delivered to it.
 *
 * D1. The row stays, marked: deliveries of the past refer to it.
 */
import type { EndpointId, TenantId } from '../../base/ids.js'
import type { Command } from '../command.js'
import { stageEndpoint } from '../directory.js'
import { answer, refuse } from '../group.js'
import { endpointView } from './webhook_endpoint_create.js'

export function deleteWebhookEndpoint(tenant: TenantId, id: string): Command {
  return {
    name: 'delete_webhook_endpoint',
    needs: () => undefined,
    decide: (desk) => {
      const endpoint = desk.memory.endpoints.get(id as EndpointId)
      if (endpoint?.tenant !== tenant || endpoint.status === 'deleted') {
        return refuse('webhook_endpoint_not_found')
      }

      // From here on it must succeed.
      const deleted = { ...endpoint, status: 'deleted' } as const
      stageEndpoint(desk, deleted)
      return answer(endpointView(deleted))
    },
  }
}
