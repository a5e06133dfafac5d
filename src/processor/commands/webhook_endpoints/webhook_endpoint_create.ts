/**
 * Registers a webhook endpoint.
 *
 * - The secret is shown only in this answer and in that of a rotation; it is stored encrypted.
 * - A deleted endpoint frees its place. Its row stays, and pools receive it for some time, so the
 *   number created within a day is also bounded, deleted endpoints included.
 */
import { ENDPOINTS_CREATED_PER_DAY_MAX, ENDPOINTS_PER_TENANT_MAX } from '../../../base/constants.js'
import { DAY, plus, type Instant } from '../../../base/clock.js'
import { newId, type EndpointId, type TenantId } from '../../../base/ids.js'
import { newWebhookSecret } from '../../../auth/secret_generation.js'
import type { CreateWebhookEndpoint__Output as CreateWebhookEndpoint } from '../../../../protos/types/causeway/v1/CreateWebhookEndpoint.js'
import type { Command } from '../../cycle/command.js'
import { stageEndpoint } from '../../changes/directory.js'
import { API_VERSION } from '../../changes/event_publish.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { EndpointEntry } from '../../cache/tenant_directory.js'
import type { Memory } from '../../cache/memory.js'
import {
  endpointsOf,
  endpointView,
  filterOf,
  violationIn,
  type EndpointTerms,
} from '../../changes/webhook_endpoints.js'

export function createWebhookEndpoint(tenant: TenantId, request: CreateWebhookEndpoint): Command {
  return {
    name: 'create_webhook_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const terms: EndpointTerms = {
        url: request.url,
        description: request.description ?? '',
        enabledEvents: filterOf(request.enabled_events),
        apiVersion: request.api_version ?? API_VERSION,
      }
      const violation = violationIn(tenant, terms)
      if (violation !== null) return refuse('invalid_request', violation)
      if (!hasCapacity(ctx.memory, tenant, ctx.now)) return refuse('webhook_endpoint_limit')

      // From here on it must succeed.
      const id = newId<EndpointId>('endpoint', ctx.now, ctx.random)
      const secret = newWebhookSecret(ctx.random)
      const entry: EndpointEntry = {
        id,
        tenant,
        ...terms,
        enabledEventsSince: ctx.now,
        status: 'enabled',
        disabledReason: '',
        timesDisabled: 0,
        disabledAt: null,
        breakerResetAt: ctx.now,
        secrets: [{ keyId: `${id}_1`, secret, activeFrom: ctx.now }],
        createdAt: ctx.now,
      }
      stageEndpoint(ctx, entry)
      return answer({ ...endpointView(entry, ctx.now), secret })
    },
  }
}

function hasCapacity(memory: Memory, tenant: TenantId, now: Instant): boolean {
  const since = plus(now, -DAY)
  const made = memory.endpoints.ofTenant(tenant).filter(({ createdAt }) => createdAt > since)
  return (
    endpointsOf(memory, tenant).length < ENDPOINTS_PER_TENANT_MAX &&
    made.length < ENDPOINTS_CREATED_PER_DAY_MAX
  )
}
