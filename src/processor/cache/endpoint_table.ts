/**
 * Webhook endpoints by id and by tenant, deleted ones included.
 *
 * - A tenant's endpoints are in creation order.
 */
import type { EndpointId, TenantId } from '../../base/ids.js'
import type { EndpointEntry } from './tenant_directory.js'

export interface EndpointTable {
  get(id: EndpointId): EndpointEntry | undefined
  has(id: EndpointId): boolean
  set(id: EndpointId, endpoint: EndpointEntry): void
  values(): IterableIterator<EndpointEntry>
  ofTenant(tenant: TenantId): readonly EndpointEntry[]
}

export function createEndpointTable(): EndpointTable {
  const all = new Map<EndpointId, EndpointEntry>()
  const idsByTenant = new Map<TenantId, EndpointId[]>()

  const set = (id: EndpointId, endpoint: EndpointEntry): void => {
    if (!all.has(id)) idsOf(endpoint.tenant).push(id)
    all.set(id, endpoint)
  }

  const idsOf = (tenant: TenantId): EndpointId[] => {
    const ids = idsByTenant.get(tenant) ?? []
    idsByTenant.set(tenant, ids)
    return ids
  }

  return {
    get: (id) => all.get(id),
    has: (id) => all.has(id),
    set,
    values: () => all.values(),
    ofTenant: (tenant) => (idsByTenant.get(tenant) ?? []).map((id) => all.get(id)!),
  }
}
