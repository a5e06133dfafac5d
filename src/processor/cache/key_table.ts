/**
 * Signing keys by id and by tenant, revoked ones included.
 *
 * - A tenant's keys are in creation order.
 */
import type { KeyId, TenantId } from '../../base/ids.js'
import type { KeyEntry } from './tenant_directory.js'

export interface KeyTable {
  get(id: KeyId): KeyEntry | undefined
  set(id: KeyId, key: KeyEntry): void
  values(): IterableIterator<KeyEntry>
  ofTenant(tenant: TenantId): readonly KeyEntry[]
}

export function createKeyTable(): KeyTable {
  const all = new Map<KeyId, KeyEntry>()
  const idsByTenant = new Map<TenantId, KeyId[]>()
  return {
    get: (id) => all.get(id),
    set: (id, key) => {
      if (!all.has(id)) {
        const ids = idsByTenant.get(key.tenant)
        if (ids === undefined) idsByTenant.set(key.tenant, [id])
        else ids.push(id)
      }
      all.set(id, key)
    },
    values: () => all.values(),
    ofTenant: (tenant) => (idsByTenant.get(tenant) ?? []).map((id) => all.get(id)!),
  }
}
