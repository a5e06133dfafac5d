/**
 * Enables and disables deliveries to an endpoint.
 *
 * - A disabled endpoint holds its events; they are delivered when it is enabled.
 * - Repeating changes nothing and keeps the first reason, but enabling always resets the breaker.
 * - Each change to disabled publishes an event in the same commit, for the tenant's other endpoints
 *   and its event list.
 */
import { DISABLED_EVENT } from '../../../base/event_types.js'
import type { EndpointId, TenantId } from '../../../base/ids.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { stageEndpoint } from '../../changes/directory.js'
import { nextSequence, publishEvent } from '../../changes/event_publish.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { EndpointEntry } from '../../cache/tenant_directory.js'
import type { Memory } from '../../cache/memory.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { endpointOf, endpointView, withBreakerReset } from '../../changes/webhook_endpoints.js'

/** For the partner. */
export function switchWebhookEndpoint(
  tenant: TenantId,
  id: string,
  to: 'enabled' | 'disabled',
): Command {
  return {
    name: 'switch_webhook_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const endpoint = endpointOf(ctx.memory, tenant, id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')

      // From here on it must succeed.
      const after = switched(ctx, endpoint, { to, reason: 'by_partner' })
      return answer(endpointView(after, ctx.now))
    },
  }
}

/** For operators. */
export function switchAnyEndpoint(actor: Actor, id: string, to: 'enabled' | 'disabled'): Command {
  return {
    name: 'switch_any_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const endpoint = anyEndpoint(ctx.memory, id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')

      // From here on it must succeed.
      const after = switched(ctx, endpoint, { to, reason: 'by_operator' })
      logAction(ctx, actor, `webhook_endpoint_${to}`, id)
      return answer({ endpoint_id: id, status: after.status })
    },
  }
}

/**
 * For the webhook pool, after a permanent failure of the endpoint.
 *
 * @param url the URL that failed, empty if unknown. An endpoint with another one stays enabled.
 */
export function disableWebhookEndpoint(id: EndpointId, reason: string, url = ''): Command {
  return {
    name: 'disable_webhook_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const endpoint = ctx.memory.endpoints.get(id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')
      if (endpoint.status === 'deleted') return answer({})
      if (url !== '' && url !== endpoint.url) return answer({})

      // From here on it must succeed.
      switched(ctx, endpoint, { to: 'disabled', reason })
      return answer({})
    },
  }
}

const anyEndpoint = (memory: Memory, id: string): EndpointEntry | undefined => {
  const endpoint = memory.endpoints.get(id as EndpointId)
  return endpoint?.status === 'deleted' ? undefined : endpoint
}

function switched(
  ctx: CommandContext,
  endpoint: EndpointEntry,
  { to, reason }: { readonly to: 'enabled' | 'disabled'; readonly reason: string },
): EndpointEntry {
  return to === 'enabled' ? enabled(ctx, endpoint) : disabled(ctx, endpoint, reason)
}

function enabled(ctx: CommandContext, endpoint: EndpointEntry): EndpointEntry {
  const reset = withBreakerReset(endpoint, ctx.now)
  const after = { ...reset, status: 'enabled', disabledReason: '' } as const
  stageEndpoint(ctx, after)
  return after
}

function disabled(ctx: CommandContext, endpoint: EndpointEntry, reason: string): EndpointEntry {
  if (endpoint.status === 'disabled') return endpoint
  const after = {
    ...endpoint,
    status: 'disabled',
    disabledReason: reason,
    timesDisabled: endpoint.timesDisabled + 1,
    disabledAt: ctx.now,
  } as const
  stageEndpoint(ctx, after)
  const { id, tenant } = endpoint
  const entity = `${id}@${nextSequence(ctx.memory, tenant)}`
  const data = { webhook_endpoint: endpointView(after, ctx.now) }
  publishEvent(ctx, tenant, entity, DISABLED_EVENT, data)
  return after
}
