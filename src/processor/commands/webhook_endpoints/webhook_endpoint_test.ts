/**
 * Sends a test event to one endpoint, through the same steps as all events.
 *
 * - The event takes a sequence of the tenant like any other, but only the named endpoint receives
 *   it.
 * - It resets the endpoint's breaker, because a partner that sends a test has a receiver running.
 */
import { TEST_EVENT } from '../../../base/event_types.js'
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { stageEndpoint } from '../../changes/directory.js'
import { nextSequence, publishEvent } from '../../changes/event_publish.js'
import { answer, refuse } from '../../cycle/answer.js'
import { endpointOf, endpointView, withBreakerReset } from '../../changes/webhook_endpoints.js'

export function testWebhookEndpoint(tenant: TenantId, id: string): Command {
  return {
    name: 'test_webhook_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const endpoint = endpointOf(ctx.memory, tenant, id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')
      if (endpoint.status === 'disabled') return refuse('webhook_endpoint_disabled')

      // From here on it must succeed.
      stageEndpoint(ctx, withBreakerReset(endpoint, ctx.now))
      const entity = `${id}@${nextSequence(ctx.memory, tenant)}`
      const data = { webhook_endpoint: endpointView(endpoint, ctx.now) }
      return answer(eventView(publishEvent(ctx, tenant, entity, TEST_EVENT, data)))
    },
  }
}

/** The event as in the list of events. */
const eventView = ({ sequence, body }: { sequence: number; body: string }): object => ({
  sequence,
  event: JSON.parse(body) as object,
})
