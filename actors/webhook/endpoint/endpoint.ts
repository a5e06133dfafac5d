/**
 * A webhook endpoint, as the pool needs to know it.
 *
 * Owns: which events it gets and which secret signs now. Does not own: where it comes from
 * (endpoint/endpoint_directory).
 *
 * - `*` stands for every event but those that are opt-in by name.
 * - An endpoint gets no event from before its creation. A disabled one gets its events later, a
 *   deleted one never.
 * - A test goes to the endpoint that it names and to no other; that an endpoint was disabled goes
 *   to the others.
 */
import type { SigningSecret } from '../../../src/auth/signature.js'
import type { Instant } from '../../../src/base/clock.js'
import { DISABLED_EVENT, OPT_IN_EVENTS, TEST_EVENT } from '../../../src/base/event_types.js'
import type { EndpointId, TenantId } from '../../../src/base/ids.js'

export interface Endpoint {
  readonly id: EndpointId
  readonly tenant: TenantId
  readonly url: string
  readonly enabledEvents: readonly string[]
  readonly status: 'enabled' | 'disabled' | 'deleted'
  /** Oldest first. */
  readonly secrets: readonly EndpointSecret[]
  readonly createdAt: Instant
  /** What it wants is as it is since then. */
  readonly enabledEventsSince: Instant
  /** When somebody last wanted its breaker closed. */
  readonly breakerResetAt: Instant
}

export interface EndpointSecret {
  readonly keyId: string
  readonly key: SigningSecret
  readonly activeFrom: Instant
}

export interface Announced {
  readonly tenant: TenantId
  readonly type: string
  readonly createdAt: Instant
  readonly body: string
}

export function wants(endpoint: Endpoint, event: Announced): boolean {
  if (endpoint.status === 'deleted') return false
  if (endpoint.tenant !== event.tenant || endpoint.createdAt > event.createdAt) return false
  if (event.type === TEST_EVENT) return endpoint.id === endpointIn(event.body)
  if (event.type === DISABLED_EVENT && endpoint.id === endpointIn(event.body)) return false
  const { enabledEvents } = endpoint
  if (enabledEvents.includes(event.type)) return true
  return enabledEvents.includes('*') && !OPT_IN_EVENTS.has(event.type)
}

function endpointIn(body: string): string | undefined {
  const { data } = JSON.parse(body) as { data?: { webhook_endpoint?: { id?: string } } }
  return data?.webhook_endpoint?.id
}

/** The newest secret whose time has come. */
export const secretAt = (endpoint: Endpoint, now: Instant): EndpointSecret | undefined =>
  endpoint.secrets.findLast((secret) => secret.activeFrom <= now)
