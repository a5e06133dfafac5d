/** Reads one webhook endpoint, or all of a tenant. Another tenant's endpoint is not found. */
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { endpointOf, endpointsOf, endpointView } from '../../changes/webhook_endpoints.js'

export function getWebhookEndpoint(tenant: TenantId, id: string): Command {
  return {
    name: 'get_webhook_endpoint',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory, now }) => {
      const endpoint = endpointOf(memory, tenant, id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')
      return answer(endpointView(endpoint, now))
    },
  }
}

export function listWebhookEndpoints(tenant: TenantId): Command {
  return {
    name: 'list_webhook_endpoints',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory, now }) =>
      answer({ data: endpointsOf(memory, tenant).map((endpoint) => endpointView(endpoint, now)) }),
  }
}

/** Checks that an endpoint exists, before a call that the webhook pools answer. */
export function checkWebhookEndpoint(tenant: TenantId, id: string): Command {
  return {
    name: 'check_webhook_endpoint',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory }) =>
      endpointOf(memory, tenant, id) === undefined
        ? refuse('webhook_endpoint_not_found')
        : answer({}),
  }
}
