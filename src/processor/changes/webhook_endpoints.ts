/**
 * Webhook endpoints: lookup, validation and the public view, shared by their commands.
 *
 * Does not own: the changes (commands/webhook_endpoints), deliveries (actors/webhook).
 *
 * - A deleted endpoint, an endpoint of another tenant and an unknown id are all not found.
 * - A corrupt endpoint is left out of lists, and each other call on it fails.
 * - The form of a URL is checked by the API, TLS in production here, and the target address by the
 *   sender at every call.
 */
import { instant, toRfc3339, type Instant } from '../../base/clock.js'
import type { Violation } from '../../base/errors.js'
import { environmentOf, type EndpointId, type TenantId } from '../../base/ids.js'
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

/** What the schema of the API does not say; both fronts have checked that. Null means no fault. */
export function violationIn(tenant: TenantId, terms: EndpointTerms): Violation | null {
  if (environmentOf(tenant) === 'production' && !/^https:/i.test(terms.url))
    return { pointer: '/url', rule: 'must be https in production' }
  if (terms.apiVersion !== API_VERSION)
    return { pointer: '/api_version', rule: `must be ${API_VERSION}` }
  return null
}

/** An empty filter selects all event types that are not opt-in. */
export const filterOf = (types: readonly string[]): readonly string[] =>
  types.length === 0 ? ['*'] : types

/** Makes the pools try the endpoint at once. Each reset has an instant of its own. */
export const withBreakerReset = (endpoint: EndpointEntry, now: Instant): EndpointEntry => ({
  ...endpoint,
  breakerResetAt: instant(Math.max(now, endpoint.breakerResetAt + 1)),
})

/** The newest secret that is active. */
export const signingSecretOf = ({ secrets }: EndpointEntry, now: Instant) =>
  secrets.findLast(({ activeFrom }) => activeFrom <= now)

/** Null means that the endpoint has none. Undefined means that it is not known yet. */
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
