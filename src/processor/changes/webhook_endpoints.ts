/**
 * Webhook endpoints: what their commands have in common.
 *
 * Owns: who may see an endpoint, which values are valid, the public view. Does not own: changes
 * (commands/webhook_endpoint_*), delivering (the webhook pool).
 *
 * - A deleted endpoint, one of another tenant and one that never was are the same: none.
 * - Which address may be called is the sender's question, at every call; here only the form is
 *   checked, and that production is called over TLS.
 */
import { ENDPOINT_DESCRIPTION_MAX, WEBHOOK_URL_MAX } from '../../base/constants.js'
import { instant, toRfc3339, type Instant } from '../../base/clock.js'
import { isEventFilter } from '../../base/event_types.js'
import { environmentOf, type EndpointId, type TenantId } from '../../base/ids.js'
import { isWithin } from '../../base/text.js'
import { API_VERSION } from './event_publish.js'
import type { EndpointEntry } from '../cache/tenant_directory.js'
import type { Memory } from '../cache/memory.js'

export function endpointOf(
  memory: Memory,
  tenant: TenantId,
  id: string,
): EndpointEntry | undefined {
  const endpoint = memory.endpoints.get(id as EndpointId)
  return endpoint?.tenant === tenant && endpoint.status !== 'deleted' ? endpoint : undefined
}

export const endpointsOf = (memory: Memory, tenant: TenantId): EndpointEntry[] =>
  memory.endpoints.ofTenant(tenant).filter(({ status }) => status !== 'deleted')

/** What a partner can set. */
export interface EndpointTerms {
  readonly url: string
  readonly description: string
  readonly enabledEvents: readonly string[]
  readonly apiVersion: string
}

export const areValid = (tenant: TenantId, terms: EndpointTerms): boolean =>
  isWebAddress(terms.url, environmentOf(tenant) === 'production') &&
  isWithin(terms.description, ENDPOINT_DESCRIPTION_MAX) &&
  isEventFilter(terms.enabledEvents) &&
  terms.apiVersion === API_VERSION

/** An empty filter asks for everything that need not be asked for by name. */
export const filterOf = (types: readonly string[]): readonly string[] =>
  types.length === 0 ? ['*'] : types

function isWebAddress(text: string, tlsOnly: boolean): boolean {
  if (text.length > WEBHOOK_URL_MAX || !URL.canParse(text)) return false
  const { protocol, username, password, hash } = new URL(text)
  const isKnown = protocol === 'https:' || (protocol === 'http:' && !tlsOnly)
  return isKnown && username === '' && password === '' && hash === ''
}

/** Has the pools try it at once, whatever its last answers were. The moment never repeats. */
export const withBreakerReset = (endpoint: EndpointEntry, now: Instant): EndpointEntry => ({
  ...endpoint,
  breakerResetAt: instant(Math.max(now, endpoint.breakerResetAt + 1)),
})

/** The newest secret whose time has come. */
export const signingSecretOf = ({ secrets }: EndpointEntry, now: Instant) =>
  secrets.findLast(({ activeFrom }) => activeFrom <= now)

export function endpointView(endpoint: EndpointEntry, now: Instant): object {
  const newest = endpoint.secrets.at(-1)
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    enabled_events: endpoint.enabledEvents,
    api_version: endpoint.apiVersion,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason === '' ? null : endpoint.disabledReason,
    key_id: signingSecretOf(endpoint, now)?.keyId ?? '',
    ...(newest !== undefined && newest.activeFrom > now
      ? { next_key: { key_id: newest.keyId, activate_at: toRfc3339(newest.activeFrom) } }
      : {}),
    created_at: toRfc3339(endpoint.createdAt),
  }
}
