/**
 * Registers a webhook endpoint, and lists a tenant's endpoints.
 *
 * W1. The secret is shown in this answer only; at rest it is sealed.
 * W2. Which address may be called is the sender's question, at every call; here only the form is
 *     checked.
 */
import { ENDPOINTS_PER_TENANT_MAX } from '../../base/bounds.js'
import { toRfc3339 } from '../../base/clock.js'
import { newId, type EndpointId, type TenantId } from '../../base/ids.js'
import { newWebhookSecret } from '../../auth/secrets.js'
import type { CreateWebhookEndpoint__Output as CreateWebhookEndpoint } from '../../../protos/types/causeway/v1/CreateWebhookEndpoint.js'
import type { Command } from '../command.js'
import { stageEndpoint } from '../directory.js'
import { API_VERSION } from '../events.js'
import { answer, refuse } from '../group.js'
import type { EndpointEntry, Memory } from '../memory.js'

export function createWebhookEndpoint(tenant: TenantId, request: CreateWebhookEndpoint): Command {
  return {
    name: 'create_webhook_endpoint',
    needs: () => undefined,
    decide: (desk) => {
      if (!isWebAddress(request.url)) return refuse('invalid_request')
      if (endpointsOf(desk.memory, tenant).length >= ENDPOINTS_PER_TENANT_MAX) {
        return refuse('webhook_endpoint_limit')
      }

      // From here on it must succeed.
      const id = newId<EndpointId>('endpoint', desk.now, desk.random)
      const secret = newWebhookSecret(desk.random)
      const entry: EndpointEntry = {
        id,
        tenant,
        url: request.url,
        description: request.description ?? '',
        enabledEvents: request.enabled_events.length === 0 ? ['*'] : request.enabled_events,
        apiVersion: API_VERSION,
        status: 'enabled',
        disabledReason: '',
        secrets: [{ keyId: `${id}_1`, secret, activeFrom: desk.now }],
        createdAt: desk.now,
      }
      stageEndpoint(desk, entry)
      return answer({ ...endpointView(entry), secret })
    },
  }
}

export function listWebhookEndpoints(tenant: TenantId): Command {
  return {
    name: 'list_webhook_endpoints',
    needs: () => undefined,
    decide: ({ memory }) => answer({ data: endpointsOf(memory, tenant).map(endpointView) }),
  }
}

const endpointsOf = (memory: Memory, tenant: TenantId): EndpointEntry[] =>
  [...memory.endpoints.values()].filter(
    (endpoint) => endpoint.tenant === tenant && endpoint.status !== 'deleted',
  )

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === ''
}

export function endpointView(endpoint: EndpointEntry): object {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    enabled_events: endpoint.enabledEvents,
    api_version: endpoint.apiVersion,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason === '' ? null : endpoint.disabledReason,
    key_id: endpoint.secrets.at(-1)?.keyId ?? '',
    created_at: toRfc3339(endpoint.createdAt),
  }
}
