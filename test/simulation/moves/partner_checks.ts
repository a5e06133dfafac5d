/**
 * Checks of the partners in both shards, after each transaction that moves rows and at the end.
 *
 * - A partner and all its rows are in one shard: that of its placement.
 * - Its events are numbered without a gap.
 * - Each balance is the sum of its entries. What is paid is the price of all its events, and the
 *   rest of its deposit is available: over both shards no money is lost or doubled.
 */
import assert from 'node:assert/strict'
import { accountsOf, DEPOSIT_CENTS, PRICE_CENTS, tenantOfPartner } from './commits.js'
import { SHARDS, type Tables } from './tables.js'

/** SQL for the tenant of a row, by table. */
const OWNED = {
  partners: "id || '_sandbox'",
  intents: 'tenant',
  events: 'tenant',
  ledger_entries: 'tenant',
  ledger_accounts: "split_part(id, ':', 1)",
} as const

/** @throws AssertionError */
export function checkPartners(tables: Tables, partners: readonly string[]): void {
  for (const partner of partners) {
    const tenant = tenantOfPartner(partner)
    const shard = placedIn(tables, partner)
    for (const [table, of] of Object.entries(OWNED)) {
      const found = SHARDS.filter((each) => hasRows(tables, `${each}.${table} WHERE ${of}`, tenant))
      // Before its first event there is nothing of some tables.
      const isElsewhere = found.some((each) => each !== shard)
      assert.ok(!isElsewhere, `${partner} is in ${shard}, its ${table} in ${found.join()}`)
    }
    assert.ok(hasRows(tables, `${shard}.partners WHERE id`, partner), `${partner} is in ${shard}`)
    checkKeys(tables, shard, partner)
    checkMoney(tables, shard, tenant)
  }
}

function placedIn(tables: Tables, partner: string): string {
  const sql = 'SELECT shard FROM placements WHERE partner = ?'
  const [placed] = tables.all<{ shard: string }>(sql, [partner])
  assert.ok(placed !== undefined, `${partner} is placed`)
  return placed.shard
}

const hasRows = (tables: Tables, from: string, value: string): boolean =>
  tables.all(`SELECT 1 FROM ${from} = ? LIMIT 1`, [value]).length > 0

function checkKeys(tables: Tables, shard: string, partner: string): void {
  const missing = tables.all<{ id: string }>(
    `SELECT id FROM ${shard}.intents WHERE partner = ?
       AND (SELECT count(*) FROM ${shard}.idempotency AS k WHERE k.entity = intents.id) <> 1`,
    [partner],
  )
  assert.deepEqual(missing, [], `each intent of ${partner} has its key in ${shard}`)
}

function checkMoney(tables: Tables, shard: string, tenant: string): void {
  const events = tables.all<{ sequence: number }>(
    `SELECT sequence FROM ${shard}.events WHERE tenant = ? ORDER BY position`,
    [tenant],
  )
  for (const [index, { sequence }] of events.entries())
    assert.equal(sequence, index + 1, `${tenant}: events are numbered without a gap`)
  const { deposited, available, paid } = accountsOf(tenant)
  const paidCents = PRICE_CENTS * events.length
  const wanted = [
    [deposited, -DEPOSIT_CENTS],
    [available, DEPOSIT_CENTS - paidCents],
    [paid, paidCents],
  ] as const
  for (const [account, cents] of wanted) {
    const balance = `SELECT coalesce(sum(balance), 0) AS cents FROM ${shard}.ledger_accounts
      WHERE id = ?`
    const sum = `SELECT coalesce(sum(amount), 0) AS cents FROM ${shard}.ledger_entries
      WHERE account = ?`
    for (const sql of [balance, sum]) {
      const [found] = tables.all<{ cents: number }>(sql, [account])
      assert.equal(found!.cents, cents, `${account} is what its events say`)
    }
  }
}
