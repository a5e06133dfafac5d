/**
 * Changes to the directory: partners, signing keys and webhook endpoints.
 *
 * Owns: their place in memory and in the batch. Does not own: their forms
 * (cache/tenant_directory), telling the watchers (servers/directory_stream).
 *
 * - A change is told to the watchers only after its commit.
 */
import { partsOfTenant, type TenantId } from '../../base/ids.js'
import type { CommandContext } from '../cycle/command.js'
import {
  endpointRow,
  keyRow,
  partnerRow,
  type EndpointEntry,
  type KeyEntry,
  type PartnerEntry,
} from '../cache/tenant_directory.js'
import type { Memory } from '../cache/memory.js'

/** True also when there is no such partner. */
export const isSuspended = (memory: Memory, tenant: TenantId): boolean =>
  memory.partners.get(partsOfTenant(tenant).partner)?.suspended ?? true

export function stagePartner({ memory, batch }: CommandContext, partner: PartnerEntry): void {
  memory.partners.set(partner.id, partner)
  batch.changedPartners.add(partner.id)
  batch.stage('partners', partner.id, partnerRow(partner))
}

export function stageKey({ memory, batch, vault }: CommandContext, key: KeyEntry): void {
  memory.keys.set(key.id, key)
  batch.changedPartners.add(partsOfTenant(key.tenant).partner)
  batch.stage('signingKeys', key.id, keyRow(key, vault))
}

export function stageEndpoint(
  { memory, batch, vault }: CommandContext,
  endpoint: EndpointEntry,
): void {
  memory.endpoints.set(endpoint.id, endpoint)
  batch.changedEndpoints.add(endpoint.id)
  batch.stage('endpoints', endpoint.id, endpointRow(endpoint, vault))
}
