/**
 * Directory entries in memory and as rows: partners, signing keys, webhook endpoints.
 *
 * Owns: converting between the two. Does not own: the set of entries (cache/memory), changing one
 * (changes/directory).
 *
 * - Secrets are in the clear in memory and encrypted in the row, bound to that row.
 * - An entry whose row cannot be read, or has an impossible moment, is corrupt, and no command
 *   changes it, so it counts as what permits least. A partner counts as suspended, and in
 *   production no address may call for it; a signing key counts as revoked; a webhook endpoint
 *   counts as disabled, and the pools hold its events.
 */
import type { Instant } from '../../base/clock.js'
import type { EndpointId, KeyId, PartnerId, TenantId } from '../../base/ids.js'
import type { Corridor } from '../../qr/corridor.js'
import type { Row } from '../../store/tables.js'
import type { Vault } from '../keys/vault.js'
import { areMoments, storedMoment, storedMomentOrNull } from './stored_moments.js'

export interface PartnerEntry {
  readonly id: PartnerId
  readonly suspended: boolean
  readonly allowedIps: readonly string[]
  readonly packages: readonly string[]
  readonly corridors: readonly Corridor[]
  readonly rateLimitPerSecond: number
  readonly createdAt: Instant
  /** Its row cannot be read; changing the partner throws CorruptRow. */
  readonly isCorrupt?: true
}

export interface KeyEntry {
  readonly id: KeyId
  readonly tenant: TenantId
  readonly secret: string
  readonly createdAt: Instant
  readonly revokedAt: Instant | null
  /** Revoked for good, also when the clock is set back. */
  readonly isRevoked: boolean
  /** Its row cannot be read; changing the key throws CorruptRow. */
  readonly isCorrupt?: true
}

/** A key with a future revocation date is active. */
export const isActiveKey = ({ isRevoked, revokedAt }: KeyEntry, now: Instant): boolean =>
  !isRevoked && (revokedAt === null || revokedAt > now)

export interface EndpointEntry {
  readonly id: EndpointId
  readonly tenant: TenantId
  readonly url: string
  readonly description: string
  readonly enabledEvents: readonly string[]
  readonly enabledEventsSince: Instant
  readonly apiVersion: string
  readonly status: 'enabled' | 'disabled' | 'deleted'
  readonly disabledReason: string
  /** Counts since the `webhook_endpoint.disabled` event exists; each has its event. */
  readonly timesDisabled: number
  /** Most recent disabling. 0 means before that event existed. */
  readonly disabledAt: Instant | null
  /** When its dead deliveries were last announced. */
  readonly deadAnnouncedAt: Instant | null
  /** Webhook pools close this endpoint's circuit breaker when this time changes. */
  readonly breakerResetAt: Instant
  /** Oldest first. */
  readonly secrets: readonly {
    readonly keyId: string
    readonly secret: string
    readonly activeFrom: Instant
  }[]
  readonly createdAt: Instant
  /** Its row cannot be read; reading and changing the endpoint throws CorruptRow. */
  readonly isCorrupt?: true
}

const signingSecretField = (keyId: string): string => `signing_keys.sealed_secret.${keyId}`
const webhookSecretField = (keyId: string): string => `webhook_endpoints.secrets.${keyId}`

/** The unspecified address, from which no call comes. An empty list would allow every address. */
const NO_ADDRESS = ['0.0.0.0/32'] as const

export function partnerEntry(row: Row<'partners'>): PartnerEntry {
  const common = {
    id: row.id as PartnerId,
    rateLimitPerSecond: row.rate_limit_per_second,
    createdAt: storedMoment(row.created_at),
  }
  const { allowed_ips: allowedIps, packages, corridors } = row
  const areLists = isTexts(allowedIps) && isTexts(packages) && isTexts(corridors)
  if (areLists && areMoments(row.created_at)) {
    const suspended = row.suspended === 1
    return { ...common, suspended, allowedIps, packages, corridors: corridors as Corridor[] }
  }
  const none = { allowedIps: NO_ADDRESS, packages: [], corridors: [] }
  return { ...common, ...none, suspended: true, isCorrupt: true }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

export const partnerRow = (partner: PartnerEntry): Row<'partners'> => ({
  id: partner.id,
  suspended: partner.suspended ? 1 : 0,
  allowed_ips: partner.allowedIps,
  packages: partner.packages,
  corridors: partner.corridors,
  rate_limit_per_second: partner.rateLimitPerSecond,
  created_at: partner.createdAt,
})

export function keyEntry(row: Row<'signingKeys'>, vault: Vault): KeyEntry {
  const entry: KeyEntry = {
    id: row.id as KeyId,
    tenant: row.tenant as TenantId,
    secret: '',
    createdAt: storedMoment(row.created_at),
    revokedAt: storedMomentOrNull(row.revoked_at),
    isRevoked: row.revoked === 1,
  }
  if (!areMoments(row.created_at, row.revoked_at)) {
    return { ...entry, isRevoked: true, isCorrupt: true }
  }
  try {
    return { ...entry, secret: vault.openSecret(row.sealed_secret, signingSecretField(row.id)) }
  } catch {
    return { ...entry, isRevoked: true, isCorrupt: true }
  }
}

export const keyRow = (key: KeyEntry, vault: Vault): Row<'signingKeys'> => ({
  id: key.id,
  tenant: key.tenant,
  sealed_secret: vault.sealSecret(key.secret, signingSecretField(key.id)),
  created_at: key.createdAt,
  revoked_at: key.revokedAt,
  revoked: key.isRevoked ? 1 : 0,
})

/** The stored form of a webhook secret. */
interface SealedWebhookSecret {
  readonly keyId: string
  readonly sealed: string
  readonly activeFrom: Instant
}

export function endpointEntry(row: Row<'endpoints'>, vault: Vault): EndpointEntry {
  const entry: EndpointEntry = {
    id: row.id as EndpointId,
    tenant: row.tenant as TenantId,
    url: row.url,
    description: row.description,
    enabledEvents: Array.isArray(row.enabled_events) ? (row.enabled_events as string[]) : ['*'],
    enabledEventsSince: storedMoment(row.enabled_events_since),
    apiVersion: row.api_version,
    status: row.status as EndpointEntry['status'],
    disabledReason: row.disabled_reason,
    secrets: [],
    createdAt: storedMoment(row.created_at),
    timesDisabled: row.times_disabled,
    disabledAt: storedMomentOrNull(row.disabled_at),
    breakerResetAt: storedMoment(row.breaker_reset_at),
    deadAnnouncedAt: storedMomentOrNull(row.dead_announced_at),
  }
  const secrets = secretsIn(row, vault)
  const isWhole = Array.isArray(row.enabled_events) && areMoments(...momentsOf(row))
  if (secrets !== undefined && isWhole) return { ...entry, secrets }
  const status = entry.status === 'deleted' ? 'deleted' : 'disabled'
  return { ...entry, status, disabledReason: 'corrupt', isCorrupt: true }
}

const momentsOf = (row: Row<'endpoints'>): readonly (number | null)[] => [
  ...[row.created_at, row.enabled_events_since, row.breaker_reset_at],
  ...[row.disabled_at, row.dead_announced_at],
]

/** Undefined means that they are no list, or one of them cannot be decrypted or has no moment. */
function secretsIn(row: Row<'endpoints'>, vault: Vault): EndpointEntry['secrets'] | undefined {
  try {
    const sealedSecrets = row.secrets as readonly SealedWebhookSecret[]
    if (!areMoments(...sealedSecrets.map(({ activeFrom }) => activeFrom))) return undefined
    return sealedSecrets.map(({ keyId, sealed, activeFrom }) => ({
      keyId,
      secret: vault.openSecret(sealed, webhookSecretField(keyId)),
      activeFrom,
    }))
  } catch {
    return undefined
  }
}

export const endpointRow = (endpoint: EndpointEntry, vault: Vault): Row<'endpoints'> => ({
  id: endpoint.id,
  tenant: endpoint.tenant,
  url: endpoint.url,
  description: endpoint.description,
  enabled_events: endpoint.enabledEvents,
  api_version: endpoint.apiVersion,
  status: endpoint.status,
  disabled_reason: endpoint.disabledReason,
  secrets: endpoint.secrets.map(({ keyId, secret, activeFrom }): SealedWebhookSecret => ({
    keyId,
    sealed: vault.sealSecret(secret, webhookSecretField(keyId)),
    activeFrom,
  })),
  created_at: endpoint.createdAt,
  enabled_events_since: endpoint.enabledEventsSince,
  times_disabled: endpoint.timesDisabled,
  disabled_at: endpoint.disabledAt,
  breaker_reset_at: endpoint.breakerResetAt,
  dead_announced_at: endpoint.deadAnnouncedAt,
})
