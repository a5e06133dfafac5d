/**
 * Registers a webhook endpoint.
 *
 * W1. The secret is shown in this answer and in that of a rotation, nowhere else; at rest it is
 *     sealed.
 */
import { ENDPOINTS_PER_TENANT_MAX } from '../../base/bounds.js'
import { newId, type EndpointId, type TenantId } from '../../base/ids.js'
import { newWebhookSecret } from '../../auth/secrets.js'
import type { CreateWebhookEndpoint__Output as CreateWebhookEndpoint } from '../../../protos/types/causeway/v1/CreateWebhookEndpoint.js'
import type { Command } from '../cycle/command.js'
import { stageEndpoint } from '../changes/directory.js'
import { API_VERSION } from '../changes/events.js'
import { answer, refuse } from '../cycle/answer.js'
import type { EndpointEntry } from '../memory/directory_entries.js'
import {
  areValid,
  endpointsOf,
  endpointView,
  filterOf,
  type EndpointTerms,
} from '../changes/webhook_endpoints.js'

export function createWebhookEndpoint(tenant: TenantId, request: CreateWebhookEndpoint): Command {
  return {
    name: 'create_webhook_endpoint',
    needs: () => undefined,
    decide: (desk) => {
      const terms: EndpointTerms = {
        url: request.url,
        description: request.description ?? '',
        enabledEvents: filterOf(request.enabled_events),
        apiVersion: request.api_version ?? API_VERSION,
      }
      if (!areValid(tenant, terms)) return refuse('invalid_request')
      if (endpointsOf(desk.memory, tenant).length >= ENDPOINTS_PER_TENANT_MAX) {
        return refuse('webhook_endpoint_limit')
      }

      // From here on it must succeed.
      const id = newId<EndpointId>('endpoint', desk.now, desk.random)
      const secret = newWebhookSecret(desk.random)
      const entry: EndpointEntry = {
        id,
        tenant,
        ...terms,
        enabledEventsSince: desk.now,
        status: 'enabled',
        disabledReason: '',
        secrets: [{ keyId: `${id}_1`, secret, activeFrom: desk.now }],
        createdAt: desk.now,
      }
      stageEndpoint(desk, entry)
      return answer({ ...endpointView(entry, desk.now), secret })
    },
  }
}
