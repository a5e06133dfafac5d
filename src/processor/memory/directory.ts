/**
 * The directory: partners, signing keys and webhook endpoints, in memory and as staged rows.
 *
 * D1. A change is told to the watchers only after its commit.
 */
import type { Desk } from '../cycle/command.js'
import {
  signingSecretPlace,
  webhookSecretPlace,
  type EndpointEntry,
  type KeyEntry,
  type Memory,
  type PartnerEntry,
} from './memory.js'
import { partsOfTenant, type TenantId } from '../../base/ids.js'

/** True also when there is no such partner. */
export const isSuspended = (memory: Memory, tenant: TenantId): boolean =>
  memory.partners.get(partsOfTenant(tenant).partner)?.suspended ?? true

export function stagePartner({ memory, group }: Desk, partner: PartnerEntry): void {
  memory.partners.set(partner.id, partner)
  group.changedPartners.add(partner.id)
  group.stage('partners', partner.id, {
    id: partner.id,
    suspended: partner.suspended ? 1 : 0,
    allowed_ips: partner.allowedIps,
    packages: partner.packages,
    corridors: partner.corridors,
    rate_limit_per_second: partner.rateLimitPerSecond,
    created_at: partner.createdAt,
  })
}

export function stageKey({ memory, group, vault }: Desk, key: KeyEntry): void {
  memory.keys.set(key.id, key)
  group.changedPartners.add(partsOfTenant(key.tenant).partner)
  group.stage('signingKeys', key.id, {
    id: key.id,
    tenant: key.tenant,
    sealed_secret: vault.sealSecret(key.secret, signingSecretPlace(key.id)),
    created_at: key.createdAt,
    revoked_at: key.revokedAt,
  })
}

export function stageEndpoint({ memory, group, vault }: Desk, endpoint: EndpointEntry): void {
  memory.endpoints.set(endpoint.id, endpoint)
  group.changedEndpoints.add(endpoint.id)
  group.stage('endpoints', endpoint.id, {
    id: endpoint.id,
    tenant: endpoint.tenant,
    url: endpoint.url,
    description: endpoint.description,
    enabled_events: endpoint.enabledEvents,
    api_version: endpoint.apiVersion,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    secrets: endpoint.secrets.map(({ keyId, secret, activeFrom }) => ({
      keyId,
      sealed: vault.sealSecret(secret, webhookSecretPlace(keyId)),
      activeFrom,
    })),
    created_at: endpoint.createdAt,
    enabled_events_since: endpoint.enabledEventsSince,
  })
}
