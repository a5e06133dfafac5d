/**
 * Stops and resumes deliveries to an endpoint.
 *
 * S1. A disabled endpoint holds its events, it does not lose them: they come when it is enabled.
 * S2. Twice changes nothing: the first reason stays. Enabling closes the breaker, every time.
 * S3. Each change to disabled has its event in the same commit, for the other endpoints of the
 *     tenant and its list of events.
 */
import { DISABLED_EVENT } from '../../base/event_types.js'
import type { EndpointId, TenantId } from '../../base/ids.js'
import type { Command, Desk } from '../cycle/command.js'
import { stageEndpoint } from '../changes/directory.js'
import { nextSequence, publishEvent } from '../changes/events.js'
import { answer, refuse } from '../cycle/answer.js'
import type { EndpointEntry } from '../memory/directory_entries.js'
import type { Memory } from '../memory/memory.js'
import { logAction, type Actor } from '../changes/operator_log.js'
import { endpointOf, endpointView, withBreakerReset } from '../changes/webhook_endpoints.js'

/** The partner's own switch. */
export function switchWebhookEndpoint(
  tenant: TenantId,
  id: string,
  to: 'enabled' | 'disabled',
): Command {
  return {
    name: 'switch_webhook_endpoint',
    needs: () => undefined,
    decide: (desk) => {
      const endpoint = endpointOf(desk.memory, tenant, id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')

      // From here on it must succeed.
      const after = turned(desk, endpoint, { to, why: 'by_partner' })
      return answer(endpointView(after, desk.now))
    },
  }
}

/** The operators' switch. */
export function switchAnyEndpoint(actor: Actor, id: string, to: 'enabled' | 'disabled'): Command {
  return {
    name: 'switch_any_endpoint',
    needs: () => undefined,
    decide: (desk) => {
      const endpoint = anyEndpoint(desk.memory, id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')

      // From here on it must succeed.
      const after = turned(desk, endpoint, { to, why: 'by_operator' })
      logAction(desk, actor, `webhook_endpoint_${to}`, id)
      return answer({ endpoint_id: id, status: after.status })
    },
  }
}

/** The pool's, when an endpoint must get no more. */
export function disableWebhookEndpoint(id: EndpointId, reason: string): Command {
  return {
    name: 'disable_webhook_endpoint',
    needs: () => undefined,
    decide: (desk) => {
      const endpoint = desk.memory.endpoints.get(id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')
      if (endpoint.status === 'deleted') return answer({})

      // From here on it must succeed.
      turned(desk, endpoint, { to: 'disabled', why: reason })
      return answer({})
    },
  }
}

const anyEndpoint = (memory: Memory, id: string): EndpointEntry | undefined => {
  const endpoint = memory.endpoints.get(id as EndpointId)
  return endpoint?.status === 'deleted' ? undefined : endpoint
}

function turned(
  desk: Desk,
  endpoint: EndpointEntry,
  { to, why }: { readonly to: 'enabled' | 'disabled'; readonly why: string },
): EndpointEntry {
  return to === 'enabled' ? enabled(desk, endpoint) : disabled(desk, endpoint, why)
}

function enabled(desk: Desk, endpoint: EndpointEntry): EndpointEntry {
  const reset = withBreakerReset(endpoint, desk.now)
  const after = { ...reset, status: 'enabled', disabledReason: '' } as const
  stageEndpoint(desk, after)
  return after
}

function disabled(desk: Desk, endpoint: EndpointEntry, why: string): EndpointEntry {
  if (endpoint.status === 'disabled') return endpoint
  const after = {
    ...endpoint,
    status: 'disabled',
    disabledReason: why,
    timesDisabled: endpoint.timesDisabled + 1,
    disabledAt: desk.now,
  } as const
  stageEndpoint(desk, after)
  const { id, tenant } = endpoint
  const entity = `${id}@${nextSequence(desk.memory, tenant)}`
  const data = { webhook_endpoint: endpointView(after, desk.now) }
  publishEvent(desk, tenant, entity, DISABLED_EVENT, data)
  return after
}
