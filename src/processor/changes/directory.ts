/**
 * Changes to the directory: partners, signing keys and webhook endpoints.
 *
 * Owns: staging them in memory and in the batch. Does not own: the row formats
 * (cache/tenant_directory), sending changes to the watchers (servers/directory_stream).
 *
 * - The watchers receive a change only after its commit.
 */
import { CorruptRow } from '../../base/corrupt_row.js'
import { partsOfTenant, type TenantId } from '../../base/ids.js'
import type { Corridor } from '../../qr/corridor.js'
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

/** True also when the partner does not exist. */
export const isSuspended = (memory: Memory, tenant: TenantId): boolean =>
  memory.partners.get(partsOfTenant(tenant).partner)?.suspended ?? true

/** @throws CorruptRow before any change */
export function stagePartner({ memory, batch }: CommandContext, partner: PartnerEntry): void {
  if (partner.isCorrupt) throw new CorruptRow(partner.id, 'its row cannot be read')
  memory.partners.set(partner.id, partner)
  batch.changedPartners.add(partner.id)
  batch.stage('partners', partner.id, partnerRow(partner))
}

/** @throws CorruptRow before any change */
export function stageKey({ memory, batch, vault }: CommandContext, key: KeyEntry): void {
  if (key.isCorrupt) throw new CorruptRow(key.id, 'its row cannot be read')
  memory.keys.set(key.id, key)
  batch.changedPartners.add(partsOfTenant(key.tenant).partner)
  batch.stage('signingKeys', key.id, keyRow(key, vault))
}

/** Whether the corridor is enabled for the partner; it can be taken after an intent was created. */
export const hasCorridor = (memory: Memory, tenant: TenantId, corridor: Corridor): boolean =>
  memory.partners.get(partsOfTenant(tenant).partner)?.corridors.includes(corridor) ?? false

/** @throws CorruptRow before any change */
export function stageEndpoint(
  { memory, batch, vault }: CommandContext,
  endpoint: EndpointEntry,
): void {
  if (endpoint.isCorrupt) throw corruptEndpoint(endpoint)
  memory.endpoints.set(endpoint.id, endpoint)
  batch.changedEndpoints.add(endpoint.id)
  batch.stage('endpoints', endpoint.id, endpointRow(endpoint, vault))
}

export const corruptEndpoint = ({ id }: EndpointEntry): CorruptRow =>
  new CorruptRow(id, 'its row cannot be read')
