/**
 * The rows of the simulated books: entities with a state that grows, an event and a posting of
 * each change, and the key of each entity.
 *
 * - A change pays PRICE_CENTS of what its partner has deposited, so money that is lost or doubled
 *   differs from the events.
 */
import { tenantOf, type PartnerId } from '../../../src/base/ids.js'
import { lastNumbers, type Numbers } from '../../../src/store/cluster/partner_numbers.js'
import type { Bindable } from '../../../src/store/database.js'
import { translated } from './dialect.js'
import type { StoredOrphan, StoredPayout } from './payments.js'
import type { ClusterServer } from './server.js'
import { SHARDS, type Tables } from './tables.js'
import type { StoredRow, Transactions } from './transactions.js'

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
  /** Its row is that of a payout. */
  readonly isPayout?: true
}

/** What a processor reads when it starts, and after the move of a partner. */
export interface StoredBooks extends Numbers {
  readonly partners: readonly string[]
  readonly entities: readonly EntityRow[]
  readonly accounts: readonly { readonly id: string; readonly balance: number }[]
  readonly sequences: readonly { readonly tenant: string; readonly sequence: number }[]
  readonly payouts: readonly StoredPayout[]
  readonly orphans: readonly StoredOrphan[]
}

export interface Commits {
  /** Partners with a deposit each, before any process has started. */
  begin(partners: Readonly<Record<string, readonly string[]>>): void
  has(shard: string, partner: string): boolean
  store(shard: string, change: Change): void
  storePayout(shard: string, payout: StoredPayout): void
  storeOrphan(shard: string, orphan: StoredOrphan): void
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

/** The key of its counter. */
export const usageOf = (partner: string): string =>
  JSON.stringify([tenantOfPartner(partner), 'paid'])

/** One payment of two has something to do next. */
const isOpen = (state: number): boolean => state % 2 === 1

export function createCommits(
  tables: Tables,
  now: () => number,
  { seen, written }: Pick<Transactions, 'seen' | 'written'>,
): Commits {
  const all = <Row>(sql: string, parameters: readonly Bindable[] = []): Row[] =>
    tables.all<Row>(seen(sql), parameters)
  /** Writes a row in the place of one with the same key. */
  const put = (name: string, row: StoredRow): void => {
    const columns = Object.keys(row)
    const marks = columns.map(() => '?').join()
    tables.run(`INSERT OR REPLACE INTO ${name} (${columns.join()}) VALUES (${marks})`, [
      ...Object.values(row),
    ])
    written(name, row)
  }
  /** Two lines, and the balances after them. */
  const post = (
    shard: string,
    posting: number,
    { tenant, entity, cents }: { tenant: string; entity: string; cents: number },
    balances: readonly (readonly [account: string, balance: bigint])[],
  ): void => {
    for (const [line, [account, balance]] of balances.entries()) {
      const amount = line === 0 ? -cents : cents
      tables.run(
        `INSERT INTO ${shard}.ledger_entries (posting, line, account, tenant, amount, plan, entity,
           at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        [posting, line, account, tenant, amount, String(posting), entity, now()],
      )
      tables.run(`INSERT OR REPLACE INTO ${shard}.ledger_accounts VALUES (?, ?)`, [
        ...[account, Number(balance)],
      ])
    }
  }
  /** Its deliveries have ended. */
  const settle = (shard: string, tenant: string, sequence: number): void => {
    const [event] = all<{ position: number }>(
      `SELECT position FROM ${shard}.events WHERE tenant = ? AND sequence = ?`,
      [tenant, sequence],
    )
    if (event === undefined) return
    const { position } = event
    if (tables.run(`DELETE FROM ${shard}.outbox WHERE position = ?`, [position]) > 0)
      tables.run(`INSERT INTO ${shard}.event_outcomes VALUES (?, ?)`, [position, now()])
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
      all(`SELECT 1 FROM ${shard}.partners WHERE id = ?`, [partner]).length > 0,
    storePayout: (shard, payout) => put(`${shard}.payouts`, { ...payout }),
    storeOrphan: (shard, orphan) => put(`${shard}.orphan_executions`, { ...orphan }),
    store: (shard, { row, position, posting, keySequence, balances, isPayout }) => {
      const { id, partner, key, state, sequence } = row
      const tenant = tenantOfPartner(partner)
      const { available, paid } = accountsOf(tenant)
      settle(shard, tenant, sequence - 1)
      tables.run(
        `INSERT INTO ${shard}.events (position, tenant, sequence, created_at, body)
         VALUES (?, ?, ?, ?, ?)`,
        [position, tenant, sequence, now(), JSON.stringify(row)],
      )
      tables.run(`INSERT INTO ${shard}.outbox VALUES (?)`, [position])
      const due = isOpen(state) ? now() : null
      if (isPayout !== true)
        put(`${shard}.intents`, { id, tenant, partner, key, state, sequence, due_at: due })
      const counter = usageOf(partner)
      const usage = `SELECT used FROM ${shard}.limit_usage WHERE key = ?`
      const used = all<{ used: number }>(usage, [counter])[0]?.used ?? 0
      put(`${shard}.limit_usage`, { key: counter, used: used + PRICE_CENTS })
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
      ...all<Numbers>(translated(lastNumbers(shard), shard))[0]!,
      partners: all<{ id: string }>(`SELECT id FROM ${shard}.partners ORDER BY id`).map(
        ({ id }) => id,
      ),
      entities: all(
        `SELECT i.id, i.partner, k.key, i.state, i.sequence
           FROM ${shard}.idempotency AS k JOIN ${shard}.intents AS i ON i.id = k.entity
         UNION ALL SELECT p.id, p.partner, k.key, p.number, p.sequence
           FROM ${shard}.idempotency AS k JOIN ${shard}.payouts AS p ON p.id = k.entity`,
      ),
      payouts: all(`SELECT * FROM ${shard}.payouts`),
      orphans: all(`SELECT * FROM ${shard}.orphan_executions`),
      accounts: all(`SELECT id, balance FROM ${shard}.ledger_accounts`),
      sequences: all(
        `SELECT tenant, max(sequence) AS sequence FROM ${shard}.events GROUP BY tenant`,
      ),
    }),
  }
}

/** The events of both shards, each in the order of its commits. */
export const eventsIn = ({ tables, seen }: Pick<ClusterServer, 'tables' | 'seen'>) =>
  SHARDS.flatMap((shard) =>
    tables
      .all<{ body: string }>(seen(`SELECT body FROM ${shard}.events ORDER BY position`))
      .map(({ body }): EntityRow => JSON.parse(body) as EntityRow),
  )
