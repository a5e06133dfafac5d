/**
 * Webhook endpoints by id and by tenant, deleted ones included.
 *
 * - A tenant's endpoints are in creation order.
 * - A disabled endpoint subscribes: it gets its events once it is enabled.
 */
import { ENDPOINT_EVENTS, isSelected } from '../../base/event_types.js'
import type { EndpointId, TenantId } from '../../base/ids.js'
import type { EndpointEntry } from './tenant_directory.js'

export interface EndpointTable {
  get(id: EndpointId): EndpointEntry | undefined
  has(id: EndpointId): boolean
  set(id: EndpointId, endpoint: EndpointEntry): void
  values(): IterableIterator<EndpointEntry>
  ofTenant(tenant: TenantId): readonly EndpointEntry[]
  /** Whether an endpoint may get the tenant's events of the type; true of those about endpoints. */
  isSubscribed(tenant: TenantId, type: string): boolean
}

export function createEndpointTable(): EndpointTable {
  const all = new Map<EndpointId, EndpointEntry>()
  const idsByTenant = new Map<TenantId, EndpointId[]>()
  /** All that a tenant's endpoints subscribe to; made when it is needed. */
  const filters = new Map<TenantId, readonly string[]>()

  const set = (id: EndpointId, endpoint: EndpointEntry): void => {
    if (!all.has(id)) idsOf(endpoint.tenant).push(id)
    all.set(id, endpoint)
    filters.delete(endpoint.tenant)
  }

  const idsOf = (tenant: TenantId): EndpointId[] => {
    const ids = idsByTenant.get(tenant) ?? []
    idsByTenant.set(tenant, ids)
    return ids
  }

  const ofTenant = (tenant: TenantId): EndpointEntry[] =>
    (idsByTenant.get(tenant) ?? []).map((id) => all.get(id)!)

  const filterOf = (tenant: TenantId): readonly string[] => {
    const existing = ofTenant(tenant).filter(({ status }) => status !== 'deleted')
    return [...new Set(existing.flatMap(({ enabledEvents }) => enabledEvents))]
  }

  const isSubscribed = (tenant: TenantId, type: string): boolean => {
    if (type.startsWith(ENDPOINT_EVENTS)) return true
    let filter = filters.get(tenant)
    if (filter === undefined) filters.set(tenant, (filter = filterOf(tenant)))
    return isSelected(filter, type)
  }

  return {
    get: (id) => all.get(id),
    has: (id) => all.has(id),
    set,
    values: () => all.values(),
    ofTenant,
    isSubscribed,
  }
}
