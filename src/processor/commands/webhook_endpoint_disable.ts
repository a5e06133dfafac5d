/**
 * Stops deliveries to an endpoint; its events are held, not dropped. Disabling twice changes
 * nothing.
 */
import type { EndpointId } from '../../base/ids.js'
import type { Command } from '../command.js'
import { stageEndpoint } from '../directory.js'
import { answer, refuse } from '../group.js'

export function disableWebhookEndpoint(id: EndpointId, reason: string): Command {
  return {
    name: 'disable_webhook_endpoint',
    needs: () => undefined,
    decide: (desk) => {
      const endpoint = desk.memory.endpoints.get(id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')
      if (endpoint.status !== 'enabled') return answer({ recorded: 0 })

      // From here on it must succeed.
      stageEndpoint(desk, { ...endpoint, status: 'disabled', disabledReason: reason })
      return answer({ recorded: 1 })
    },
  }
}
