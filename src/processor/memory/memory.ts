/**
 * What the processor knows without asking the disk.
 *
 * Owns: the warm rows, the books' balances, the directory, counters of positions; filling them at
 * a start. Does not own: changes to them (commands, through changes/).
 *
 * N1. Memory is the newest truth: it includes what is staged and not committed. It is never older
 *     than the disk.
 * N2. There is one writer. What memory knows to be absent is absent.
 */
import { createCorruptRows, type CorruptRows } from '../../base/corrupt_row.js'
import { createNonceTable, type NonceTable } from '../../auth/nonces.js'
import { instant, plus, type Instant } from '../../base/clock.js'
import type { EndpointId, KeyId, PartnerId, TenantId } from '../../base/ids.js'
import type { AccountKey } from '../../ledger/accounts.js'
import { currencyOf, type Currency } from '../../money/currency.js'
import { parseRate, type Rate } from '../../money/rate.js'
import type { BootState, Store } from '../../store/store.js'
import type { Row } from '../../store/tables.js'
import { openIntent } from '../../../actors/intent/actor.js'
import type { IntentContext, IntentEvent, IntentState } from '../../../actors/intent/context.js'
import { openPayout } from '../../../actors/payout/actor.js'
import type { PayoutContext, PayoutEvent, PayoutState } from '../../../actors/payout/context.js'
import { createActorHost, type ActorHost, type Live } from './actor_host.js'
import {
  endpointEntry,
  keyEntry,
  partnerEntry,
  type KeyEntry,
  type PartnerEntry,
} from './directory_entries.js'
import { createEndpointTable, type EndpointTable } from './endpoint_table.js'
import { createKeyIndex, printsIn, type KeyIndex } from './key_index.js'
import { createRecentPayments, type RecentPayments } from './recent_payments.js'
import { createOrphanIndex, type OrphanIndex } from './orphan_index.js'
import { createUserPrinter, type UserPrinter } from './user_print.js'
import { createRouteTable, routeOf, type RouteTable } from './routes.js'
import { createShelf, type Shelf } from './shelf.js'
import type { Vault } from '../keys/vault.js'

export type LiveIntent = Live<IntentState, IntentContext, IntentEvent>
export type LivePayout = Live<PayoutState, PayoutContext, PayoutEvent>

export interface KnownRate {
  readonly rate: Rate
  readonly setAt: Instant
}

export interface Memory {
  readonly intentHost: ActorHost<IntentState, IntentContext, IntentEvent>
  readonly payoutHost: ActorHost<PayoutState, PayoutContext, PayoutEvent>
  readonly intents: Shelf<LiveIntent>
  readonly payouts: Shelf<LivePayout>
  readonly beneficiaries: Shelf<Row<'beneficiaries'>>
  readonly idempotency: Shelf<Row<'idempotency'>>
  readonly usage: Shelf<bigint>
  readonly fxQuotes: Shelf<Row<'fxQuotes'>>
  readonly discrepancies: Shelf<Row<'discrepancies'>>
  /** All there ever were: they are few, and every piece of odd news asks for its own. */
  readonly discrepancyIds: Set<string>
  /** By kid. */
  readonly masterKeys: Map<string, Row<'masterKeys'>>
  readonly partners: Map<PartnerId, PartnerEntry>
  readonly keys: Map<KeyId, KeyEntry>
  /** Deleted ones among them. */
  readonly endpoints: EndpointTable
  /** Those that operators have set. */
  readonly rates: Map<Currency, KnownRate>
  /** Those we ship among them. */
  readonly routes: RouteTable
  readonly balances: Map<AccountKey, bigint>
  readonly balanceAlerts: Map<AccountKey, Row<'balanceAlerts'>>
  /** The last event sequence of each tenant. */
  readonly sequences: Map<TenantId, number>
  /** Numbers that a tenant's first event leaves out: books that were lost may have used them. */
  skippedSequences: number
  readonly recentPayments: RecentPayments
  readonly orphans: OrphanIndex
  /** Not null: the processor only reads. Once it is released it starts anew. */
  recovery: Row<'recoveries'> | null
  lastRecovery: number
  readonly nonces: NonceTable
  /** Met since the start. */
  readonly corruptRows: CorruptRows
  readonly keyIndex: KeyIndex
  /** The number of each user's last intent. */
  readonly userIndex: KeyIndex
  readonly printOfUser: UserPrinter
  lastPosting: number
  lastPosition: number
  lastKeySequence: number
  lastIntentNumber: number
}

/** Each create binds a key and few come again, so most rows only make their shelf slow. */
const WARM_KEYS_MAX = 4_096

export interface MemoryOptions {
  /** Of intents and of payouts; and no more rows of a kind beside them. */
  readonly warmActors: number
  readonly duplicateWindowMs: number
}

/** Reads what the first command needs. Actors and idempotency keys come when they are asked for. */
export async function loadMemory(
  store: Store,
  vault: Vault,
  now: Instant,
  { warmActors, duplicateWindowMs }: MemoryOptions,
): Promise<Memory> {
  const boot = await store.boot(plus(now, -duplicateWindowMs))
  const memory = emptyMemory(boot.nonceSalt, warmActors, duplicateWindowMs)
  for (const row of boot.masterKeys) memory.masterKeys.set(row.kid, row)
  for (const row of boot.partners) memory.partners.set(row.id as PartnerId, partnerEntry(row))
  for (const row of boot.signingKeys) memory.keys.set(row.id as KeyId, keyEntry(row, vault))
  for (const row of boot.endpoints) {
    memory.endpoints.set(row.id as EndpointId, endpointEntry(row, vault))
  }
  for (const row of boot.rates) {
    const currency = currencyOf(row.currency)
    const rate = parseRate(row.rate)
    if (currency === undefined || rate === undefined) throw new Error(`bad rate ${row.currency}`)
    memory.rates.set(currency, { rate, setAt: instant(row.set_at) })
  }
  for (const row of boot.routes) memory.routes.set(routeOf(row))
  for (const row of boot.balanceAlerts) memory.balanceAlerts.set(row.account as AccountKey, row)
  for (const { id } of boot.discrepancies) memory.discrepancyIds.add(id)
  loadBooks(memory, boot)
  loadRecoveries(memory, boot)
  loadPrints(memory, boot)
  for (const row of boot.recentlyConfirmed) {
    const live = memory.intentHost.restore(row)
    if (live.isDamaged !== true) memory.recentPayments.add(live.context)
  }
  return memory
}

function emptyMemory(salt: Buffer, warmActors: number, duplicateWindowMs: number): Memory {
  return {
    intentHost: createActorHost<IntentState, IntentContext, IntentEvent>('created', openIntent),
    payoutHost: createActorHost<PayoutState, PayoutContext, PayoutEvent>('created', openPayout),
    intents: createShelf({
      max: warmActors,
      isEnded: ({ state }) => state !== 'created' && state !== 'authorized',
    }),
    payouts: createShelf({
      max: warmActors,
      isEnded: ({ state }) => state !== 'created' && state !== 'processing',
    }),
    beneficiaries: createShelf({ max: warmActors }),
    idempotency: createShelf({ max: WARM_KEYS_MAX }),
    usage: createShelf({ max: warmActors }),
    fxQuotes: createShelf({ max: warmActors }),
    discrepancies: createShelf({ max: warmActors }),
    discrepancyIds: new Set(),
    masterKeys: new Map(),
    partners: new Map(),
    keys: new Map(),
    endpoints: createEndpointTable(),
    rates: new Map(),
    routes: createRouteTable(),
    balances: new Map(),
    balanceAlerts: new Map(),
    sequences: new Map(),
    skippedSequences: 0,
    recentPayments: createRecentPayments(duplicateWindowMs),
    orphans: createOrphanIndex(),
    recovery: null,
    lastRecovery: 0,
    nonces: createNonceTable({ salt }),
    corruptRows: createCorruptRows(),
    keyIndex: createKeyIndex(),
    userIndex: createKeyIndex(),
    printOfUser: createUserPrinter(salt),
    lastPosting: 0,
    lastPosition: 0,
    lastKeySequence: 0,
    lastIntentNumber: 0,
  }
}

function loadBooks(memory: Memory, boot: BootState): void {
  for (const { id, balance } of boot.accounts)
    memory.balances.set(id as AccountKey, BigInt(balance))
  memory.lastPosting = boot.lastPosting
  memory.lastPosition = boot.lastPosition
}

/** What was released skipped positions, and of each tenant as many numbers. */
function loadRecoveries(memory: Memory, { recoveries, orphans, sequences }: BootState): void {
  const skippedAfter = (position: number): number =>
    recoveries
      .filter(({ position_from: from }) => from !== null && from >= position)
      .reduce((sum, { position_from, position_to }) => sum + position_to! - position_from!, 0)
  for (const { tenant, sequence, position } of sequences) {
    memory.sequences.set(tenant, sequence + skippedAfter(position))
  }
  memory.skippedSequences = skippedAfter(0)
  for (const row of recoveries) {
    memory.lastRecovery = row.number
    memory.lastPosition = Math.max(memory.lastPosition, row.position_to ?? 0)
    if (row.released_at === null) memory.recovery = row
  }
  for (const orphan of orphans) memory.orphans.set(orphan)
}

function loadPrints(memory: Memory, boot: BootState): void {
  for (const { seen_at, fingerprints } of boot.nonces) memory.nonces.load(fingerprints, seen_at)
  for (const { first, prints } of boot.keyPrints) {
    for (const [offset, print] of printsIn(prints).entries()) {
      memory.keyIndex.add(print, first + offset)
      memory.lastKeySequence = first + offset
    }
  }
  for (const { first, prints } of boot.userPrints) {
    for (const [offset, print] of printsIn(prints).entries()) {
      memory.userIndex.exchange(print, first + offset)
      memory.lastIntentNumber = first + offset
    }
  }
}

/** Between batches only (shelf, H3). */
export function evict(memory: Memory, committedGroup: number): void {
  memory.intents.evict(committedGroup)
  memory.payouts.evict(committedGroup)
  memory.beneficiaries.evict(committedGroup)
  memory.idempotency.evict(committedGroup)
  memory.usage.evict(committedGroup)
  memory.fxQuotes.evict(committedGroup)
  memory.discrepancies.evict(committedGroup)
}
