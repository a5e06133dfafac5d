/**
 * The books of a shard in a simulated processor: the product's memory of partners, balances and
 * numbers, and the entities.
 *
 * Owns: decisions, what is read when a process starts or a partner has moved. Does not own: the
 * rows (commits), decisions about payouts (payments).
 */
import { instant } from '../../../src/base/clock.js'
import type { PartnerId, TenantId } from '../../../src/base/ids.js'
import type { AccountKey } from '../../../src/ledger/accounts.js'
import { loadMemory, type Memory, type MemoryOptions } from '../../../src/processor/cache/memory.js'
import type { Vault } from '../../../src/processor/keys/vault.js'
import type { AllFingerprints } from '../../../src/store/stored_fingerprints.js'
import type { BootState, Store } from '../../../src/store/store.js'
import { accountsOf, PRICE_CENTS, tenantOfPartner } from './commits.js'
import type { Change, EntityRow, StoredBooks } from './commits.js'
import type { MoveFault } from './faults.js'
import {
  createPayments,
  NO_EFFECTS,
  PAYMENT_VAULT,
  type Effects,
  type Moment,
  type Payments,
} from './payments.js'
import type { KeyedCall, Reply } from './streams.js'

export const VAULT = { tokenSecrets: [], ...PAYMENT_VAULT } as Partial<Vault> as Vault
export const MEMORY_OPTIONS: MemoryOptions = { warmActors: 16, duplicateWindowMs: 0 }

export interface ShardBooks {
  readonly memory: Memory
  readonly store: Pick<Store, 'boot' | 'lastFingerprints' | 'fingerprintsAfter' | 'keyRows'>
  readonly payments: Payments
  /** Refuses changes. */
  readOnly(call: KeyedCall): Decision
  decide(call: KeyedCall, moment: Moment): Decision
}

export interface Decision {
  readonly reply: Pick<Reply, 'code' | 'entity' | 'state'>
  readonly effects: Effects
}

/**
 * @param read a step of the processor
 * @param fault planted
 */
export async function loadBooks(
  read: () => Promise<StoredBooks>,
  fault?: MoveFault,
): Promise<ShardBooks> {
  const entities = new Map<string, EntityRow>()
  const store: ShardBooks['store'] = {
    boot: async () => {
      const stored = await read()
      entities.clear()
      for (const row of stored.entities) entities.set(row.key, row)
      payments.load(stored.payouts)
      return bootOf(fault?.forgetsOrphans === true ? { ...stored, orphans: [] } : stored)
    },
    lastFingerprints: async () => ({ nonces: 0, keys: (await read()).key, users: 0 }),
    fingerprintsAfter: ({ keys }) => fingerprints(read, keys),
    keyRows: () => Promise.resolve({ lastingKeys: [], masterKeys: [] }),
  }
  const payments: Payments = createPayments({
    memory: () => memory,
    advance: ({ id, partner, key }) => ({
      ...advanced({ partner, key }, entities.get(key), id),
      isPayout: true,
    }),
  })
  const memory: Memory = await loadMemory(store as Store, VAULT, instant(0), MEMORY_OPTIONS)

  const advanced = (
    { partner, key }: Pick<KeyedCall, 'partner' | 'key'>,
    before: EntityRow | undefined,
    newId: string,
  ): Change => {
    const tenant = tenantOfPartner(partner) as TenantId
    const sequence = (memory.sequences.get(tenant) ?? 0) + 1
    const id = before?.id ?? newId
    const row: EntityRow = { id, partner, key, state: (before?.state ?? 0) + 1, sequence }
    const { available, paid } = accountsOf(tenant)
    const balances = [
      posted(memory, available, -PRICE_CENTS),
      posted(memory, paid, PRICE_CENTS),
    ] as const
    memory.sequences.set(tenant, sequence)
    entities.set(key, row)
    if (before === undefined) memory.lastKeySequence += 1
    return {
      row,
      position: (memory.lastPosition += 1),
      posting: (memory.lastPosting += 1),
      keySequence: before === undefined ? memory.lastKeySequence : undefined,
      balances,
    }
  }
  const decide = (
    call: KeyedCall,
    change: (before: EntityRow | undefined) => Decision,
  ): Decision => {
    if (!memory.partners.has(call.partner as PartnerId)) return refused('not_here')
    const { kind, key } = call
    const before = entities.get(key)
    if (before === undefined ? kind === 'create' || kind === 'pay' : kind === 'advance')
      return change(before)
    const reply = before === undefined ? refused('not_found').reply : accepted(before)
    return { reply, effects: NO_EFFECTS }
  }
  const effectsOf = (call: KeyedCall, before: EntityRow | undefined, moment: Moment): Effects => {
    if (call.kind === 'pay') return payments.pay(call, moment)
    const newId = `pi_${call.key.replace(' ', '_')}@${moment.epoch}`
    return { ...NO_EFFECTS, changes: [advanced(call, before, newId)] }
  }
  return {
    memory,
    store,
    payments,
    readOnly: (call) => decide(call, () => refused('configuration_error')),
    decide: (call, moment) =>
      decide(call, (before) => {
        const effects = effectsOf(call, before, moment)
        return { reply: accepted(entities.get(call.key)!), effects }
      }),
  }
}

const accepted = ({ id, state }: EntityRow): Decision['reply'] => ({ code: '', entity: id, state })
const refused = (code: Reply['code']): Decision => ({
  reply: { code, entity: '', state: 0 },
  effects: NO_EFFECTS,
})

/** @returns the balance after it */
function posted({ balances }: Memory, account: string, cents: number): bigint {
  const key = account as AccountKey
  const balance = (balances.get(key) ?? 0n) + BigInt(cents)
  balances.set(key, balance)
  return balance
}

/** The last one only: fingerprints are not simulated. */
async function* lastOf(read: () => Promise<StoredBooks>, after: number) {
  const { key } = await read()
  if (key > after) yield { first: key, prints: Buffer.alloc(8) }
}

async function* none(): AsyncGenerator<never> {
  yield* []
}
const fingerprints = (read: () => Promise<StoredBooks>, after: number): AllFingerprints => ({
  ...{ nonces: none(), userFingerprints: none(), keyFingerprints: lastOf(read, after) },
})

function bootOf(stored: StoredBooks): BootState {
  const empty = <Row>(): readonly Row[] => []
  return {
    ...fingerprints(() => Promise.resolve(stored), 0),
    ...{ masterKeys: empty(), signingKeys: empty(), endpoints: empty(), rates: empty() },
    ...{ sandboxRates: empty(), routes: empty(), submissionPauses: empty(), railRoutes: empty() },
    ...{ callers: empty(), approvalRequests: empty(), singleHanded: empty() },
    ...{ balanceAlerts: empty(), userErasures: empty(), discrepancies: empty() },
    ...{ recoveries: empty(), recentlyConfirmed: empty(), archive: null },
    orphans: stored.orphans.map((row) => ({ ...row, amount: BigInt(row.amount) })),
    ...{ nonceSalt: Buffer.alloc(16), settingsVersion: 0, newestMoment: instant(0) },
    ...{ newestPostingAt: null, newestEventAt: null, indexedKeysThrough: 0 },
    ...{ epoch: 0, lastBatch: 0 },
    partners: stored.partners.map((id) => ({
      ...{ id, suspended: 0, allowed_ips: [], packages: [], corridors: [] },
      ...{ rate_limit_per_second: 0, created_at: 0 },
    })),
    accounts: stored.accounts.map(({ id, balance }) => ({ id, balance: String(balance) })),
    sequences: stored.sequences.map(({ tenant, sequence }) => ({
      ...{ tenant: tenant as TenantId, sequence, position: 0 },
    })),
    lastPosting: stored.posting,
    lastPosition: stored.position,
    lastKey: stored.key,
  }
}
