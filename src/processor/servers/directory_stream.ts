/**
 * The directory streams: partners and keys for the gateways, endpoints for the webhook pools.
 *
 * - A watcher receives the full directory first, then each change after its commit, so a revocation
 *   reaches every gateway at once.
 * - A key with a future revocation date is sent with that date; the gateway enforces it.
 * - Updates are split into messages within the receiver's size limit. Of the full directory only
 *   the last one is marked complete; changes during its transfer follow it (directory_watchers).
 * - Deleted endpoints stay in the directory, as id and status: a pool that reconnects later still
 *   has their deliveries to abandon. Creation of endpoints is rate-limited per tenant.
 */
import type { DirectoryHandlers } from '../../../protos/types/causeway/internal/v1/Directory.js'
import type { Endpoint as WireEndpoint } from '../../../protos/types/causeway/internal/v1/Endpoint.js'
import type { EndpointUpdate } from '../../../protos/types/causeway/internal/v1/EndpointUpdate.js'
import type { Partner as WirePartner } from '../../../protos/types/causeway/internal/v1/Partner.js'
import type { OwnShard } from '../../../protos/types/causeway/operator/v1/OwnShard.js'
import type { PartnerUpdate } from '../../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import {
  ENVIRONMENTS,
  partsOfTenant,
  tenantOf,
  type EndpointId,
  type PartnerId,
} from '../../base/ids.js'
import type { EndpointEntry, PartnerEntry } from '../cache/tenant_directory.js'
import type { Memory } from '../cache/memory.js'
import type { Vault } from '../keys/vault.js'
import { chunked } from './chunks.js'
import { createDirectoryWatchers } from './directory_watchers.js'

export interface DirectoryService {
  readonly handlers: DirectoryHandlers
  /** This processor's shard and epoch, and all shards. */
  own(): OwnShard
  /** Called by the pipeline after each commit that changed the directory. */
  changed(partners: ReadonlySet<string>, endpoints: ReadonlySet<string>): void
  /** Called when the addresses of processors have changed. */
  addressesChanged(): void
  /**
   * Called before this process releases the books: gateways hold the partners' calls for the next
   * owner.
   */
  withdraw(): void
  /** The partner leaves these books: gateways hold its calls for its next owner. */
  withdrawPartner(partner: PartnerId): void
  /** It has moved: webhook pools turn to its next owner. */
  partnerLeft(partner: PartnerId): void
  /** It is in these books: it has come, or has not left. */
  partnerIsHere(partner: PartnerId): void
  /** Ends all streams. */
  close(): void
}

/**
 * The shard of this processor. Gateways route a partner that two processors announce by the epoch.
 */
export interface ShardInfo {
  /** Empty means that these are the only books. */
  readonly shard: string
  epoch(): number
  /** Every shard of the cluster. Empty means unknown. */
  shards(): readonly string[]
  /** Where gateways reach the processors of the cluster. Absent if these are the only books. */
  addresses?(): readonly string[]
  /** The id of the installation. */
  readonly installation?: string | undefined
}

const NO_CLUSTER: ShardInfo = { shard: '', epoch: () => 0, shards: () => [] }
const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export function directoryService(
  memory: Memory,
  vault: Vault,
  info: ShardInfo = NO_CLUSTER,
  yieldToEventLoop = nextIteration,
): DirectoryService {
  const partnerWatchers = createDirectoryWatchers<PartnerUpdate>(yieldToEventLoop)
  const endpointWatchers = createDirectoryWatchers<EndpointUpdate>(yieldToEventLoop)
  let isWithdrawn = false
  let leaving: PartnerId | undefined

  const own = (): OwnShard => ({
    shard: isWithdrawn ? '' : info.shard,
    epoch: info.epoch(),
    shards: [...info.shards()],
  })

  const addresses = (): string[] => [...(info.addresses?.() ?? [])]

  /** The pool delivers nothing. */
  const isPaused = (): boolean => memory.recovery?.stops === 'writes'

  /** Ends early when the partners are withdrawn meanwhile. */
  function* announcedPartners(): Generator<WirePartner> {
    for (const partner of memory.partners.values()) {
      if (isWithdrawn) return
      if (partner.id !== leaving) yield wirePartner(memory, partner)
    }
  }

  function* allPartners(): Generator<PartnerUpdate> {
    yield { ...own(), addresses: addresses() }
    const token_keys = vault.tokenSecrets.map(({ kid, secret }) => ({
      kid,
      secret: Buffer.from(secret),
    }))
    for (const { entries, isLast } of chunked(announcedPartners())) {
      yield { partners: entries, token_keys, complete: isLast }
    }
  }

  function* allEndpoints(): Generator<EndpointUpdate> {
    yield* announcement()
    for (const { entries, isLast } of chunked(mapped(memory.endpoints.values(), wireEndpoint))) {
      yield { endpoints: entries, complete: isLast, paused: isPaused() }
    }
  }

  /**
   * Pools deliver these partners' events to the endpoints of this processor, and report the
   * outcomes to it.
   */
  function* announcement(): Generator<EndpointUpdate> {
    const { shard, installation = '' } = info
    yield { shard, epoch: info.epoch(), shards: [...info.shards()], installation }
    if (shard === '') return
    for (const { entries } of chunked(memory.partners.values())) {
      yield { partners: entries.map(({ id }) => id) }
    }
  }

  const changed: DirectoryService['changed'] = (partnerIds, endpointIds) => {
    if (partnerIds.size > 0 && !isWithdrawn) {
      const partners = [...partnerIds]
        .map((id) => memory.partners.get(id as PartnerId))
        .filter((partner) => partner !== undefined)
        .map((partner) => wirePartner(memory, partner))
      for (const { entries } of chunked(partners))
        partnerWatchers.send(() => ({ partners: entries }))
      if (info.shard !== '') endpointWatchers.send(() => ({ partners: [...partnerIds] }))
    }
    if (endpointIds.size > 0) {
      const endpoints = [...endpointIds]
        .map((id) => memory.endpoints.get(id as EndpointId))
        .filter((endpoint) => endpoint !== undefined)
        .map(wireEndpoint)
      for (const { entries } of chunked(endpoints)) {
        endpointWatchers.send(() => ({ endpoints: entries, paused: isPaused() }))
      }
    }
  }

  return {
    handlers: {
      WatchPartners: (stream) => partnerWatchers.add(stream, allPartners()),
      WatchEndpoints: (stream) => endpointWatchers.add(stream, allEndpoints()),
    },
    own,
    changed,
    addressesChanged: () => partnerWatchers.send(() => ({ addresses: addresses() })),
    withdraw: () => {
      const gone = isWithdrawn ? [] : [...memory.partners.keys()]
      isWithdrawn = true
      partnerWatchers.send(() => ({ gone }))
    },
    withdrawPartner: (partner) => {
      leaving = partner
      partnerWatchers.send(() => ({ gone: [partner] }))
    },
    partnerLeft: (partner) => {
      leaving = undefined
      endpointWatchers.send(() => ({ gone: [partner] }))
    },
    partnerIsHere: (partner) => {
      leaving = undefined
      const endpoints = ENVIRONMENTS.flatMap((environment) =>
        memory.endpoints.ofTenant(tenantOf(partner, environment)),
      )
      changed(new Set([partner]), new Set(endpoints.map(({ id }) => id)))
    },
    close: () => {
      partnerWatchers.end()
      endpointWatchers.end()
    },
  }
}

function* mapped<From, To>(all: Iterable<From>, map: (one: From) => To): Generator<To> {
  for (const one of all) yield map(one)
}

/** Earlier than any time a gateway's clock can show. */
const REVOKED = '1'

function wirePartner(memory: Memory, partner: PartnerEntry): WirePartner {
  const keys = ENVIRONMENTS.flatMap((environment) =>
    memory.keys.ofTenant(tenantOf(partner.id, environment)),
  )
  return {
    partner_id: partner.id,
    keys: keys.map((key) => ({
      key_id: key.id,
      environment: partsOfTenant(key.tenant).environment,
      secret: key.secret,
      revoked_at: key.isRevoked ? REVOKED : String(key.revokedAt ?? 0),
    })),
    allowed_ips: [...partner.allowedIps],
    packages: [...partner.packages],
    rate_limit_per_second: partner.rateLimitPerSecond,
  }
}

function wireEndpoint(endpoint: EndpointEntry): WireEndpoint {
  if (endpoint.status === 'deleted') {
    const { id, tenant, status } = endpoint
    return { id, tenant, status }
  }
  return {
    id: endpoint.id,
    tenant: endpoint.tenant,
    url: endpoint.url,
    enabled_events: [...endpoint.enabledEvents],
    status: endpoint.status,
    secrets: endpoint.secrets.map(({ keyId, secret, activeFrom }) => ({
      key_id: keyId,
      secret,
      active_from: String(activeFrom),
    })),
    created_at: String(endpoint.createdAt),
    enabled_events_since: String(endpoint.enabledEventsSince),
    breaker_reset_at: String(endpoint.breakerResetAt),
  }
}
