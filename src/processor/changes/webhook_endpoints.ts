/**
 * Webhook endpoints: lookup, validation and the public view, shared by their commands.
 *
 * Does not own: the changes (commands/webhook_endpoints), deliveries (actors/webhook).
 *
 * - A deleted endpoint, an endpoint of another tenant and an unknown id are all not found.
 * - A corrupt endpoint is left out of lists, and each other call on it fails.
 * - Only the form of a URL, and TLS in production, are checked here. The sender checks the target
 *   address at every call.
 */
import { ENDPOINT_DESCRIPTION_MAX, WEBHOOK_URL_MAX } from '../../base/constants.js'
import { instant, toRfc3339, type Instant } from '../../base/clock.js'
import type { Violation } from '../../base/errors.js'
import { isEventFilter } from '../../base/event_types.js'
import { environmentOf, type EndpointId, type TenantId } from '../../base/ids.js'
import { isWithin } from '../../base/text.js'
import { corruptEndpoint } from './directory.js'
import { API_VERSION } from './event_publish.js'
import type { DeadDeliveries } from '../cache/dead_deliveries.js'
import type { EndpointEntry } from '../cache/tenant_directory.js'
import type { Memory } from '../cache/memory.js'

/** @throws CorruptRow when its row cannot be read */
export function endpointOf(
  memory: Memory,
  tenant: TenantId,
  id: string,
): EndpointEntry | undefined {
  const endpoint = memory.endpoints.get(id as EndpointId)
  if (endpoint?.tenant !== tenant || endpoint.status === 'deleted') return undefined
  if (endpoint.isCorrupt) throw corruptEndpoint(endpoint)
  return endpoint
}

export const endpointsOf = (memory: Memory, tenant: TenantId): EndpointEntry[] =>
  memory.endpoints
    .ofTenant(tenant)
    .filter(({ status, isCorrupt }) => status !== 'deleted' && isCorrupt !== true)

/** The members that a partner can set. */
export interface EndpointTerms {
  readonly url: string
  readonly description: string
  readonly enabledEvents: readonly string[]
  readonly apiVersion: string
}

/** Null: the terms are valid. */
export function violationIn(tenant: TenantId, terms: EndpointTerms): Violation | null {
  if (!isWebAddress(terms.url, environmentOf(tenant) === 'production'))
    return { pointer: '/url', rule: 'must be an allowed URL; production requires https' }
  if (!isWithin(terms.description, ENDPOINT_DESCRIPTION_MAX))
    return {
      pointer: '/description',
      rule: `must have at most ${ENDPOINT_DESCRIPTION_MAX} characters`,
    }
  if (!isEventFilter(terms.enabledEvents))
    return { pointer: '/enabled_events', rule: 'must be known event types, each once' }
  if (terms.apiVersion !== API_VERSION)
    return { pointer: '/api_version', rule: `must be ${API_VERSION}` }
  return null
}

/** An empty filter selects all event types that are not opt-in. */
export const filterOf = (types: readonly string[]): readonly string[] =>
  types.length === 0 ? ['*'] : types

function isWebAddress(text: string, tlsOnly: boolean): boolean {
  if (text.length > WEBHOOK_URL_MAX || !URL.canParse(text)) return false
  const { protocol, username, password, hash } = new URL(text)
  const isKnown = protocol === 'https:' || (protocol === 'http:' && !tlsOnly)
  return isKnown && username === '' && password === '' && hash === ''
}

/** Makes the pools try the endpoint at once. Each reset has an instant of its own. */
export const withBreakerReset = (endpoint: EndpointEntry, now: Instant): EndpointEntry => ({
  ...endpoint,
  breakerResetAt: instant(Math.max(now, endpoint.breakerResetAt + 1)),
})

/** The newest secret that is active. */
export const signingSecretOf = ({ secrets }: EndpointEntry, now: Instant) =>
  secrets.findLast(({ activeFrom }) => activeFrom <= now)

/** Null: the endpoint has none. Undefined: not known yet. */
export const deadDeliveriesView = (
  dead: Pick<DeadDeliveries, 'count' | 'newestAt'> | null | undefined,
): object => ({
  dead_deliveries: dead === undefined ? null : (dead?.count ?? 0),
  newest_dead_at: dead ? toRfc3339(dead.newestAt) : null,
})

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
