/**
 * Stops and resumes deliveries to an endpoint.
 *
 * - A disabled endpoint holds its events, it does not lose them: they come when it is enabled.
 * - Twice changes nothing: the first reason stays. Enabling closes the breaker, every time.
 * - Each change to disabled has its event in the same commit, for the other endpoints of the
 *   tenant and its list of events.
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

/** The partner's own switch. */
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
      const after = turned(ctx, endpoint, { to, why: 'by_partner' })
      return answer(endpointView(after, ctx.now))
    },
  }
}

/** The operators' switch. */
export function switchAnyEndpoint(actor: Actor, id: string, to: 'enabled' | 'disabled'): Command {
  return {
    name: 'switch_any_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const endpoint = anyEndpoint(ctx.memory, id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')

      // From here on it must succeed.
      const after = turned(ctx, endpoint, { to, why: 'by_operator' })
      logAction(ctx, actor, `webhook_endpoint_${to}`, id)
      return answer({ endpoint_id: id, status: after.status })
    },
  }
}

/** The pool's, when an endpoint must get no more. */
export function disableWebhookEndpoint(id: EndpointId, reason: string): Command {
  return {
    name: 'disable_webhook_endpoint',
    needs: () => undefined,
    decide: (ctx) => {
      const endpoint = ctx.memory.endpoints.get(id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')
      if (endpoint.status === 'deleted') return answer({})

      // From here on it must succeed.
      turned(ctx, endpoint, { to: 'disabled', why: reason })
      return answer({})
    },
  }
}

const anyEndpoint = (memory: Memory, id: string): EndpointEntry | undefined => {
  const endpoint = memory.endpoints.get(id as EndpointId)
  return endpoint?.status === 'deleted' ? undefined : endpoint
}

function turned(
  ctx: CommandContext,
  endpoint: EndpointEntry,
  { to, why }: { readonly to: 'enabled' | 'disabled'; readonly why: string },
): EndpointEntry {
  return to === 'enabled' ? enabled(ctx, endpoint) : disabled(ctx, endpoint, why)
}

function enabled(ctx: CommandContext, endpoint: EndpointEntry): EndpointEntry {
  const reset = withBreakerReset(endpoint, ctx.now)
  const after = { ...reset, status: 'enabled', disabledReason: '' } as const
  stageEndpoint(ctx, after)
  return after
}

function disabled(ctx: CommandContext, endpoint: EndpointEntry, why: string): EndpointEntry {
  if (endpoint.status === 'disabled') return endpoint
  const after = {
    ...endpoint,
    status: 'disabled',
    disabledReason: why,
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
