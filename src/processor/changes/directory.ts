/**
 * Changes to the directory: partners, signing keys and webhook endpoints.
 *
 * Owns: their place in memory and in the group. Does not own: their forms
 * (memory/directory_entries), telling the watchers (services/directory).
 *
 * D1. A change is told to the watchers only after its commit.
 */
import { partsOfTenant, type TenantId } from '../../base/ids.js'
import type { Desk } from '../cycle/command.js'
import {
  endpointRow,
  keyRow,
  partnerRow,
  type EndpointEntry,
  type KeyEntry,
  type PartnerEntry,
} from '../memory/directory_entries.js'
import type { Memory } from '../memory/memory.js'

/** True also when there is no such partner. */
export const isSuspended = (memory: Memory, tenant: TenantId): boolean =>
  memory.partners.get(partsOfTenant(tenant).partner)?.suspended ?? true

export function stagePartner({ memory, group }: Desk, partner: PartnerEntry): void {
  memory.partners.set(partner.id, partner)
  group.changedPartners.add(partner.id)
  group.stage('partners', partner.id, partnerRow(partner))
}

export function stageKey({ memory, group, vault }: Desk, key: KeyEntry): void {
  memory.keys.set(key.id, key)
  group.changedPartners.add(partsOfTenant(key.tenant).partner)
  group.stage('signingKeys', key.id, keyRow(key, vault))
}

export function stageEndpoint({ memory, group, vault }: Desk, endpoint: EndpointEntry): void {
  memory.endpoints.set(endpoint.id, endpoint)
  group.changedEndpoints.add(endpoint.id)
  group.stage('endpoints', endpoint.id, endpointRow(endpoint, vault))
}
