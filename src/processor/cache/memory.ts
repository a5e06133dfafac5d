/**
 * The processor's in-memory state: cached rows, balances, the tenant directory, counters.
 *
 * Owns: loading it at startup, evicting rows. Does not own: changing it (commands/, changes/).
 *
 * - Memory includes staged, uncommitted changes and is never older than the disk.
 * - Negative entries are authoritative, because there is a single writer.
 */
import { createCorruptRows, type CorruptRows } from '../../base/corrupt_row.js'
import type { StoredCaller } from '../../auth/callers.js'
import { installationOf } from '../../auth/fingerprint.js'
import { createNonceTable, type NonceTable } from '../../auth/nonces.js'
import { instant, plus, type Instant } from '../../base/clock.js'
import type { EndpointId, Environment, KeyId, PartnerId, TenantId } from '../../base/ids.js'
import type { AccountKey } from '../../ledger/accounts.js'
import { currencyOf, type Currency } from '../../money/currency.js'
import { money } from '../../money/money.js'
import { parseRate, type Rate } from '../../money/rate.js'
import { createRouteTable, type RouteTable } from '../../money/payout_routes.js'
import { rateKey, type RateKey, type SetRate } from '../../quotes/rates.js'
import type { BootState, Store } from '../../store/store.js'
import type { AllFingerprints } from '../../store/stored_fingerprints.js'
import type { Row } from '../../store/tables.js'
import {
  intentContextIn,
  type IntentContext,
  type IntentState,
} from '../../../actors/intent/context.js'
import type { PayoutContext, PayoutState } from '../../../actors/payout/context.js'
import { storedCaller } from './stored_callers.js'
import { areMoments, storedMoment, storedMomentOrNull } from './stored_moments.js'
import { restored, type Live } from './live_actor.js'
import { endpointEntry, keyEntry, partnerEntry, type PartnerEntry } from './tenant_directory.js'
import { createDeadDeliveryTable, type DeadDeliveryTable } from './dead_deliveries.js'
import type { DepositSums } from './deposit_sums.js'
import { createEndpointTable, type EndpointTable } from './endpoint_table.js'
import { createKeyTable, type KeyTable } from './key_table.js'
import {
  createIdempotencyIndex,
  fingerprintsIn,
  type IdempotencyIndex,
  type Fingerprint64,
} from './idempotency_index.js'
import { createKeyIndex, type KeyIndex } from './key_index.js'
import { createRecentPayments, type RecentPayments } from './recent_payments.js'
import { createOrphanIndex, type OrphanIndex } from './orphan_index.js'
import type { SettingsFault } from '../../store/cluster/settings.js'
import { createSingleHandedSums, type SingleHandedSums } from './single_handed_sums.js'
import { createUserFingerprinter, type UserFingerprinter } from './user_fingerprint.js'
import { routeOf } from './payout_route_rows.js'
import { createWriteBackCache, type WriteBackCache } from './row_cache.js'
import type { Vault } from '../keys/vault.js'

export type LiveIntent = Live<IntentState, IntentContext>
export type LivePayout = Live<PayoutState, PayoutContext>

export interface KnownRate extends SetRate {
  readonly environment: Environment
  readonly currency: Currency
  /** Null means that an earlier version set it. */
  readonly actor: string | null
  /** The rate until then. Null means that there was none, or that an earlier version set it. */
  readonly before: string | null
  /** What changes of the UTC day are compared with (rate_set). */
  readonly opening: { readonly rate: Rate; readonly at: Instant }
  /** One of its moments is impossible: it counts as too old until it is set again. */
  readonly isCorrupt?: true
}

export interface Memory {
  readonly intents: WriteBackCache<LiveIntent>
  readonly payouts: WriteBackCache<LivePayout>
  readonly beneficiaries: WriteBackCache<Row<'beneficiaries'>>
  readonly idempotency: WriteBackCache<Row<'idempotency'>>
  readonly usage: WriteBackCache<bigint>
  readonly fxQuotes: WriteBackCache<Row<'fxQuotes'>>
  readonly discrepancies: WriteBackCache<Row<'discrepancies'>>
  readonly deposits: WriteBackCache<DepositSums>
  /** Every discrepancy, settled ones included: each rail report that mismatches is looked up. */
  readonly discrepancyIds: Set<string>
  /** By kid. */
  readonly masterKeys: Map<string, Row<'masterKeys'>>
  readonly partners: Map<PartnerId, PartnerEntry>
  /** Tenants that have left these books since the start, or are leaving them. */
  readonly departed: Set<TenantId>
  /** When a partner left last, since the start. */
  lastDepartureAt: Instant
  readonly keys: KeyTable
  /** Callers of gRPC that operators manage, by name. */
  readonly callers: Map<string, StoredCaller>
  /** By id, decided and expired ones included. */
  readonly approvalRequests: Map<string, Row<'approvalRequests'>>
  readonly singleHanded: SingleHandedSums
  readonly endpoints: EndpointTable
  readonly deadDeliveries: DeadDeliveryTable
  /** Rates set by operators. */
  readonly rates: Map<RateKey, KnownRate>
  /** Includes the default routes. */
  readonly routes: RouteTable
  /** The rails that operators chose, by route. */
  readonly railRoutes: Map<string, Row<'railRoutes'>>
  /** What is not submitted now, by subject. */
  readonly pauses: Map<string, Row<'submissionPauses'>>
  readonly balances: Map<AccountKey, bigint>
  readonly balanceAlerts: Map<AccountKey, Row<'balanceAlerts'>>
  /** The last event sequence of each tenant. */
  readonly sequences: Map<TenantId, number>
  /** Sequence numbers that a new tenant skips: lost commits may have used them (recovery/). */
  skippedSequences: number
  /** The id of the installation, as far as these books tell (auth/fingerprint). */
  readonly installation: string
  readonly recentPayments: RecentPayments
  readonly orphans: OrphanIndex
  /**
   * Not null: recovery mode, which stops writes or only submissions. The process restarts after the
   * release.
   */
  recovery: Row<'recoveries'> | null
  /** No source has verified books without a mark yet: writes are refused (background/recovery). */
  isUnverified: boolean
  lastRecovery: number
  /** The version of the newest applied setting for all shards. 0 if there is none. */
  settingsVersion: number
  /** The newest moment in the books when they were loaded. */
  newestMoment: Instant
  /** The one that cannot be applied; while there is one, partners' writes are refused. */
  settingsFault: SettingsFault | null
  readonly nonces: NonceTable
  /** When this process last took a signed request. Null if it has taken none. */
  lastSignedAt: Instant | null
  /** Found since startup. */
  readonly corruptRows: CorruptRows
  readonly keyIndex: KeyIndex
  /** The number of each user's latest intent. */
  readonly userIndex: IdempotencyIndex
  readonly fingerprintOfUser: UserFingerprinter
  /** Users that are being erased, by the id of the request. */
  readonly userErasures: Map<string, Row<'userErasures'>>
  /** Where ended payments are moved to. Null means that none was moved. */
  archive: Row<'archives'> | null
  /** The latest entry of the action log about it since the start. */
  archivingNoted: { readonly name: string; readonly reason: string; readonly at: Instant } | null
  lastPosting: number
  lastPosition: number
  /**
   * When the newest event or posting was committed, or a release skipped numbers, as of the start.
   * Null if there was none of these.
   */
  lastNumberedAt: number | null
  lastKeySequence: number
  lastIntentNumber: number
}

/** Every create adds a key and few are retried, so a larger cache only costs time. */
const WARM_KEYS_MAX = 4_096

export interface MemoryOptions {
  /** Maximum number of cached rows of each kind. */
  readonly warmActors: number
  readonly duplicateWindowMs: number
}

/** Loads everything but actors and idempotency rows, which are loaded on demand. */
export async function loadMemory(
  store: Store,
  vault: Vault,
  now: Instant,
  { warmActors, duplicateWindowMs }: MemoryOptions,
): Promise<Memory> {
  const boot = await store.boot(plus(now, -duplicateWindowMs))
  const memory = emptyMemory(boot.nonceSalt, warmActors, duplicateWindowMs)
  loadTenants(memory, boot, vault, now)
  for (const row of boot.sandboxRates) rememberRate(memory, 'sandbox', row)
  for (const row of boot.rates) rememberRate(memory, 'production', row)
  for (const row of boot.callers) memory.callers.set(row.name, storedCaller(row))
  for (const row of boot.railRoutes) memory.railRoutes.set(row.route, row)
  for (const row of boot.submissionPauses) {
    const { subject, resumed_at: resumedAt } = row
    // Money does not leave because a row is damaged.
    if (resumedAt === null || !areMoments(resumedAt)) memory.pauses.set(subject, row)
  }
  memory.settingsVersion = boot.settingsVersion
  await loadFingerprints(memory, boot, boot.indexedKeysThrough)
  refuseMissingFingerprints(memory, boot)
  for (const row of boot.userErasures) rememberErasure(memory, row)
  memory.archive = boot.archive
  return memory
}

/** What the move of a partner changes: its rows, and the last numbers of these books. */
function loadTenants(memory: Memory, boot: BootState, vault: Vault, now: Instant): void {
  for (const row of boot.masterKeys) memory.masterKeys.set(row.kid, row)
  for (const row of boot.partners) memory.partners.set(row.id as PartnerId, partnerEntry(row))
  for (const row of boot.signingKeys) memory.keys.set(row.id as KeyId, keyEntry(row, vault))
  for (const row of boot.endpoints) {
    memory.endpoints.set(row.id as EndpointId, endpointEntry(row, vault))
  }
  for (const row of boot.approvalRequests) memory.approvalRequests.set(row.id, row)
  for (const { actor, at, tenant, ...sum } of boot.singleHanded) {
    const funds = money(sum.currency as Currency, BigInt(sum.amount))
    memory.singleHanded.add(actor, { tenant, funds }, instant(at))
  }
  for (const row of boot.routes) memory.routes.set(routeOf(row))
  for (const row of boot.balanceAlerts) memory.balanceAlerts.set(row.account as AccountKey, row)
  for (const { id } of boot.discrepancies) memory.discrepancyIds.add(id)
  for (const row of boot.recentlyConfirmed) {
    const live: LiveIntent = restored(row, intentContextIn)
    if (live.isCorrupt !== true) memory.recentPayments.add(live.context)
  }
  loadBooks(memory, boot)
  loadRecoveries(memory, boot, now)
}

/**
 * Reads again what the move of a partner has changed, but for fingerprints. Rows are loaded on
 * demand again. Call only while the pipeline is held.
 */
export async function reloadTenants(
  memory: Memory,
  store: Pick<Store, 'boot'>,
  vault: Vault,
  now: Instant,
  { warmActors, duplicateWindowMs }: MemoryOptions,
): Promise<void> {
  const boot = await store.boot(plus(now, -duplicateWindowMs))
  const fresh = emptyMemory(boot.nonceSalt, warmActors, duplicateWindowMs)
  loadTenants(fresh, boot, vault, now)
  const { intents, payouts, beneficiaries, idempotency, usage, fxQuotes, discrepancies } = fresh
  const { deposits, discrepancyIds, masterKeys, partners, keys, approvalRequests } = fresh
  const { singleHanded, endpoints, routes, balances, balanceAlerts, sequences } = fresh
  const { recentPayments, lastPosting, lastPosition, newestMoment } = fresh
  Object.assign(memory, {
    ...{ intents, payouts, beneficiaries, idempotency, usage, fxQuotes, discrepancies },
    ...{ deposits, discrepancyIds, masterKeys, partners, keys, approvalRequests },
    ...{ singleHanded, endpoints, routes, balances, balanceAlerts, sequences },
    ...{ recentPayments, lastPosting, lastPosition, newestMoment },
  })
}

export function rememberRate(
  { rates }: Pick<Memory, 'rates'>,
  environment: Environment,
  row: Row<'rates'>,
): void {
  const currency = currencyOf(row.currency)
  const rate = parseRate(row.rate)
  if (currency === undefined || rate === undefined) throw new Error(`bad rate ${row.currency}`)
  const opening = row.opening_rate === null ? rate : parseRate(row.opening_rate)
  if (opening === undefined) throw new Error(`bad opening rate ${row.currency}`)
  const { actor, before_rate: before, removed_at: removedAt } = row
  rates.set(rateKey(environment, currency), {
    ...{ environment, currency, rate, setAt: storedMoment(row.set_at), actor, before },
    removedAt: storedMomentOrNull(removedAt),
    opening: { rate: opening, at: storedMoment(row.opened_at ?? row.set_at) },
    ...(areMoments(row.set_at, removedAt, row.opened_at) ? {} : { isCorrupt: true }),
  })
}

function emptyMemory(salt: Buffer, warmActors: number, duplicateWindowMs: number): Memory {
  return {
    intents: createWriteBackCache({
      max: warmActors,
      isEnded: ({ state }) => state !== 'created' && state !== 'authorized',
    }),
    payouts: createWriteBackCache({
      max: warmActors,
      isEnded: ({ state }) => state !== 'created' && state !== 'processing',
    }),
    beneficiaries: createWriteBackCache({ max: warmActors }),
    idempotency: createWriteBackCache({ max: WARM_KEYS_MAX }),
    usage: createWriteBackCache({ max: warmActors }),
    fxQuotes: createWriteBackCache({ max: warmActors }),
    discrepancies: createWriteBackCache({ max: warmActors }),
    deposits: createWriteBackCache({ max: warmActors }),
    discrepancyIds: new Set(),
    masterKeys: new Map(),
    partners: new Map(),
    departed: new Set(),
    lastDepartureAt: instant(0),
    keys: createKeyTable(),
    callers: new Map(),
    approvalRequests: new Map(),
    singleHanded: createSingleHandedSums(),
    endpoints: createEndpointTable(),
    deadDeliveries: createDeadDeliveryTable(),
    rates: new Map(),
    routes: createRouteTable(),
    railRoutes: new Map(),
    pauses: new Map(),
    balances: new Map(),
    balanceAlerts: new Map(),
    sequences: new Map(),
    skippedSequences: 0,
    installation: installationOf(salt),
    recentPayments: createRecentPayments(duplicateWindowMs),
    orphans: createOrphanIndex(),
    recovery: null,
    isUnverified: false,
    lastRecovery: 0,
    settingsVersion: 0,
    newestMoment: instant(0),
    settingsFault: null,
    nonces: createNonceTable({ salt }),
    lastSignedAt: null,
    corruptRows: createCorruptRows(),
    keyIndex: createKeyIndex(),
    userIndex: createIdempotencyIndex(),
    fingerprintOfUser: createUserFingerprinter(salt),
    userErasures: new Map(),
    archive: null,
    archivingNoted: null,
    lastPosting: 0,
    lastPosition: 0,
    lastNumberedAt: null,
    lastKeySequence: 0,
    lastIntentNumber: 0,
  }
}

function loadBooks(memory: Memory, boot: BootState): void {
  for (const { id, balance } of boot.accounts)
    memory.balances.set(id as AccountKey, BigInt(balance))
  memory.lastPosting = boot.lastPosting
  memory.lastPosition = boot.lastPosition
  memory.newestMoment = boot.newestMoment
}

/**
 * Each release skipped positions, and as many sequence numbers of each tenant and numbers of
 * postings. A posting after the release has a number above them. So it has after a release whose
 * clock was ahead, although its moment is earlier: one that is above all that was skipped.
 */
function loadRecoveries(memory: Memory, boot: BootState, now: Instant): void {
  const { recoveries, orphans, sequences, newestEventAt, newestPostingAt, lastPosting } = boot
  const releasedAt = recoveries.map(({ released_at: at }) => at)
  const numberedAt = [newestEventAt, newestPostingAt, ...releasedAt].filter((at) => at !== null)
  memory.lastNumberedAt = numberedAt.length === 0 ? null : Math.max(...numberedAt)
  const skippedIn = (released: readonly Row<'recoveries'>[]): number =>
    released.reduce((sum, { position_from, position_to }) => sum + position_to! - position_from!, 0)
  const skippedAfter = (position: number): number =>
    skippedIn(recoveries.filter(({ position_from: from }) => from !== null && from >= position))
  for (const { tenant, sequence, position } of sequences) {
    memory.sequences.set(tenant, sequence + skippedAfter(position))
  }
  memory.skippedSequences = skippedAfter(0)
  const isAboveAll = lastPosting > memory.skippedSequences
  memory.lastPosting += skippedIn(
    recoveries.filter(
      ({ released_at: at }) =>
        at !== null && at > (newestPostingAt ?? 0) && !(at > now && isAboveAll),
    ),
  )
  for (const row of recoveries) {
    memory.lastRecovery = row.number
    memory.lastPosition = Math.max(memory.lastPosition, row.position_to ?? 0)
    if (row.released_at === null) memory.recovery = row
  }
  for (const orphan of orphans) memory.orphans.set(orphan)
}

/** @param indexedThrough keys up to this sequence are in the index of older keys */
export async function loadFingerprints(
  memory: Memory,
  { nonces, keyFingerprints, userFingerprints }: AllFingerprints,
  indexedThrough = 0,
): Promise<void> {
  for await (const { seen_at, fingerprints } of nonces) {
    memory.nonces.load(fingerprints, seen_at)
  }
  for await (const { first, prints: packed } of keyFingerprints) {
    for (const [offset, fingerprint] of fingerprintsIn(packed).entries()) {
      const sequence = first + offset
      memory.lastKeySequence = sequence
      if (isNone(fingerprint)) continue
      if (sequence <= indexedThrough) memory.keyIndex.addIndexed(fingerprint)
      else memory.keyIndex.add(fingerprint, sequence)
    }
  }
  for await (const { first, prints: packed } of userFingerprints) {
    for (const [offset, fingerprint] of fingerprintsIn(packed).entries()) {
      memory.lastIntentNumber = first + offset
      if (!isNone(fingerprint)) memory.userIndex.replace(fingerprint, first + offset)
    }
  }
}

/** A key without a fingerprint would count as free, and the next one would get its sequence. */
function refuseMissingFingerprints({ lastKeySequence }: Memory, { lastKey }: BootState): void {
  if (lastKey <= lastKeySequence) return
  throw new Error(
    `idempotency has the sequence ${lastKey}, idempotency_prints end with ${lastKeySequence}, ` +
      'so a row of them is damaged: restore it',
  )
}

/** What has moved to another shard has no fingerprint. */
const isNone = ({ high, low }: Fingerprint64): boolean => high === 0 && low === 0

/**
 * The user's list ends: the intents up to the last one are of the request now, and the user's next
 * one begins a list.
 */
export function rememberErasure(memory: Memory, row: Row<'userErasures'>): void {
  const { userIndex, fingerprintOfUser, userErasures } = memory
  const tenant = row.tenant as TenantId
  userErasures.set(row.id, row)
  userIndex.replace(fingerprintOfUser(tenant, row.id), row.last_intent)
  const ofUser = fingerprintOfUser(tenant, row.user_id)
  const [last] = userIndex.candidates(ofUser)
  if (last !== undefined && last <= row.last_intent) userIndex.replace(ofUser, 0)
}

/** Whether writes are refused. */
export const isReadOnly = ({ recovery, isUnverified }: Memory): boolean =>
  isUnverified || recovery?.stops === 'writes'

/** Call only between batches (cache/row_cache). */
export function evict(memory: Memory, committedBatch: number): void {
  memory.keyIndex.settle()
  memory.intents.evict(committedBatch)
  memory.payouts.evict(committedBatch)
  memory.beneficiaries.evict(committedBatch)
  memory.idempotency.evict(committedBatch)
  memory.usage.evict(committedBatch)
  memory.fxQuotes.evict(committedBatch)
  memory.discrepancies.evict(committedBatch)
  memory.deposits.evict(committedBatch)
}
