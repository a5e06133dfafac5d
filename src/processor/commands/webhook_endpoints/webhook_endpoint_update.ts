/**
 * Changes an endpoint's URL, description, event filter or API version; absent members stay. It
 * resets the breaker.
 *
 * - A new filter applies to events from its change on; events in transit may follow either filter.
 */
import type { UpdateWebhookEndpoint__Output as UpdateWebhookEndpoint } from '../../../../protos/types/causeway/v1/UpdateWebhookEndpoint.js'
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { stageEndpoint } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'
import {
  endpointOf,
  endpointView,
  filterOf,
  violationIn,
  withBreakerReset,
  type EndpointTerms,
} from '../../changes/webhook_endpoints.js'

export function updateWebhookEndpoint(tenant: TenantId, request: UpdateWebhookEndpoint): Command {
  return {
    name: 'update_webhook_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const endpoint = endpointOf(ctx.memory, tenant, request.endpoint_id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')
      const { enabled_events: filter } = request
      const terms: EndpointTerms = {
        url: request.url ?? endpoint.url,
        description: request.description ?? endpoint.description,
        enabledEvents: filter ? filterOf(filter.types) : endpoint.enabledEvents,
        apiVersion: request.api_version ?? endpoint.apiVersion,
      }
      const violation = violationIn(tenant, terms)
      if (violation !== null) return refuse('invalid_request', violation)

      // From here on it must succeed.
      const enabledEventsSince = filter ? ctx.now : endpoint.enabledEventsSince
      const changed = { ...endpoint, ...terms, enabledEventsSince }
      const updated = withBreakerReset(changed, ctx.now)
      stageEndpoint(ctx, updated)
      return answer(endpointView(updated, ctx.now))
    },
  }
}
