/**
 * The rows of the simulated books: entities with a state that grows, an event and a posting of
 * each change, and the key of each entity.
 *
 * - A change pays PRICE_CENTS of what its partner has deposited, so money that is lost or doubled
 *   differs from the events.
 */
import { tenantOf, type PartnerId } from '../../../src/base/ids.js'
import { lastNumbers, type Numbers } from '../../../src/store/cluster/partner_numbers.js'
import { translated } from './dialect.js'
import { SHARDS, type Tables } from './tables.js'

/** A new state of an entity, and its event. */
export interface EntityRow {
  readonly id: string
  readonly partner: string
  readonly key: string
  readonly state: number
  /** The number of the event, per partner. */
  readonly sequence: number
}

/** The rows of a change, with the numbers that its processor gave them. */
export interface Change {
  readonly row: EntityRow
  readonly position: number
  readonly posting: number
  /** The sequence of its key, where it is new. */
  readonly keySequence: number | undefined
  /** What is available, and what is paid, as the processor has them. */
  readonly balances: readonly [available: bigint, paid: bigint]
}

/** What a processor reads when it starts, and after the move of a partner. */
export interface StoredBooks extends Numbers {
  readonly partners: readonly string[]
  readonly entities: readonly EntityRow[]
  readonly accounts: readonly { readonly id: string; readonly balance: number }[]
  readonly sequences: readonly { readonly tenant: string; readonly sequence: number }[]
}

export interface Commits {
  /** Partners with a deposit each, before any process has started. */
  begin(partners: Readonly<Record<string, readonly string[]>>): void
  has(shard: string, partner: string): boolean
  store(shard: string, change: Change): void
  recover(shard: string, isRecovering: boolean): void
  books(shard: string): StoredBooks
}

/** Partners have one environment here. */
export const tenantOfPartner = (partner: string): string =>
  tenantOf(partner as PartnerId, 'sandbox')

export const PRICE_CENTS = 7
export const DEPOSIT_CENTS = 1_000_000
export const accountsOf = (tenant: string) => ({
  deposited: `${tenant}:deposited`,
  available: `${tenant}:available`,
  paid: `${tenant}:paid`,
})

export function createCommits(tables: Tables, now: () => number): Commits {
  /** Two lines, and the balances after them. */
  const post = (
    shard: string,
    posting: number,
    { tenant, entity, cents }: { tenant: string; entity: string; cents: number },
    balances: readonly (readonly [account: string, balance: bigint])[],
  ): void => {
    for (const [line, [account, balance]] of balances.entries()) {
      const amount = line === 0 ? -cents : cents
      tables.run(`INSERT INTO ${shard}.ledger_entries VALUES (?, ?, ?, ?, ?, ?, ?, NULL)`, [
        ...[posting, line, account, tenant, amount, entity, now()],
      ])
      tables.run(`INSERT OR REPLACE INTO ${shard}.ledger_accounts VALUES (?, ?)`, [
        ...[account, Number(balance)],
      ])
    }
  }
  return {
    begin: (partners) => {
      for (const shard of SHARDS)
        for (const [index, partner] of (partners[shard] ?? []).entries()) {
          const tenant = tenantOfPartner(partner)
          const { deposited, available } = accountsOf(tenant)
          tables.run(`INSERT INTO ${shard}.partners VALUES (?)`, [partner])
          const posted = { tenant, entity: tenant, cents: DEPOSIT_CENTS }
          post(shard, index + 1, posted, [
            [deposited, BigInt(-DEPOSIT_CENTS)],
            [available, BigInt(DEPOSIT_CENTS)],
          ])
        }
    },
    has: (shard, partner) =>
      tables.all(`SELECT 1 FROM ${shard}.partners WHERE id = ?`, [partner]).length > 0,
    store: (shard, { row, position, posting, keySequence, balances }) => {
      const { id, partner, key, state, sequence } = row
      const tenant = tenantOfPartner(partner)
      const { available, paid } = accountsOf(tenant)
      tables.run(`INSERT INTO ${shard}.events VALUES (?, ?, ?, ?, ?)`, [
        ...[position, tenant, sequence, now(), JSON.stringify(row)],
      ])
      tables.run(`INSERT OR REPLACE INTO ${shard}.intents VALUES (?, ?, ?, ?, ?, ?)`, [
        ...[id, tenant, partner, key, state, sequence],
      ])
      post(shard, posting, { tenant, entity: id, cents: PRICE_CENTS }, [
        [available, balances[0]],
        [paid, balances[1]],
      ])
      if (keySequence === undefined) return
      tables.run(`INSERT INTO ${shard}.idempotency (sequence, key, entity) VALUES (?, ?, ?)`, [
        ...[keySequence, key, id],
      ])
      tables.run(`INSERT INTO ${shard}.idempotency_prints VALUES (?, zeroblob(8))`, [keySequence])
    },
    recover: (shard, isRecovering) => {
      if (isRecovering) tables.run(`INSERT INTO ${shard}.recoveries (released_at) VALUES (NULL)`)
      else
        tables.run(`UPDATE ${shard}.recoveries SET released_at = ? WHERE released_at IS NULL`, [
          now(),
        ])
    },
    books: (shard) => ({
      ...tables.all<Numbers>(translated(lastNumbers(shard), shard))[0]!,
      partners: tables
        .all<{ id: string }>(`SELECT id FROM ${shard}.partners ORDER BY id`)
        .map(({ id }) => id),
      entities: tables.all(
        `SELECT i.id, i.partner, k.key, i.state, i.sequence
         FROM ${shard}.idempotency AS k JOIN ${shard}.intents AS i ON i.id = k.entity`,
      ),
      accounts: tables.all(`SELECT id, balance FROM ${shard}.ledger_accounts`),
      sequences: tables.all(
        `SELECT tenant, max(sequence) AS sequence FROM ${shard}.events GROUP BY tenant`,
      ),
    }),
  }
}

/** The events of both shards, each in the order of its commits. */
export const eventsIn = (tables: Tables): readonly EntityRow[] =>
  SHARDS.flatMap((shard) =>
    tables
      .all<{ body: string }>(`SELECT body FROM ${shard}.events ORDER BY position`)
      .map(({ body }) => JSON.parse(body) as EntityRow),
  )
