/**
 * Checks of the partners in both shards, after each transaction that moves rows or sets them apart,
 * and at the end.
 *
 * - A partner and all its rows are in one shard: that of its placement.
 * - Each row is there once, whether it is set apart or not.
 * - Its events are numbered without a gap, and its postings are in the order of its events. Each
 *   entry has the first posting that it had.
 * - Each balance is the sum of its entries. What is paid is the price of all its events, and the
 *   rest of its deposit is available: over both shards no money is lost or doubled.
 */
import assert from 'node:assert/strict'
import type { Bindable } from '../../../src/store/database.js'
import {
  accountsOf,
  DEPOSIT_CENTS,
  PRICE_CENTS,
  tenantOfPartner,
  usageOf,
  type EntityRow,
} from './commits.js'
import type { ClusterServer } from './server.js'
import { SHARDS } from './tables.js'

/** SQL for the tenant of a row, by table. */
const OWNED = {
  partners: "id || '_sandbox'",
  intents: 'tenant',
  payouts: 'tenant',
  events: 'tenant',
  ledger_entries: 'tenant',
  ledger_accounts: "split_part(id, ':', 1)",
} as const

const PAYMENTS = ['intents', 'payouts'] as const

type Books = Pick<ClusterServer, 'tables' | 'seen'>

/** @throws AssertionError */
export function checkPartners(books: Books, partners: readonly string[]): void {
  for (const partner of partners) {
    const tenant = tenantOfPartner(partner)
    const shard = placedIn(books, partner)
    for (const [table, of] of Object.entries(OWNED)) {
      const found = SHARDS.filter((each) => hasRows(books, `${each}.${table} WHERE ${of}`, tenant))
      // Before its first event there is nothing of some tables.
      const isElsewhere = found.some((each) => each !== shard)
      assert.ok(!isElsewhere, `${partner} is in ${shard}, its ${table} in ${found.join()}`)
    }
    assert.ok(hasRows(books, `${shard}.partners WHERE id`, partner), `${partner} is in ${shard}`)
    checkKeys(books, shard, partner)
    checkEvents(books, shard, tenant)
    checkMoney(books, shard, tenant)
  }
}

const rowsIn = <Row>(
  { tables, seen }: Books,
  sql: string,
  parameters: readonly Bindable[] = [],
): Row[] => tables.all<Row>(seen(sql), parameters)

function placedIn({ tables }: Books, partner: string): string {
  const sql = 'SELECT shard FROM placements WHERE partner = ?'
  const [placed] = tables.all<{ shard: string }>(sql, [partner])
  assert.ok(placed !== undefined, `${partner} is placed`)
  return placed.shard
}

const hasRows = (books: Books, from: string, value: string): boolean =>
  rowsIn(books, `SELECT 1 FROM ${from} = ? LIMIT 1`, [value]).length > 0

function checkKeys(books: Books, shard: string, partner: string): void {
  const missing = rowsIn<{ id: string }>(
    books,
    PAYMENTS.map(
      (table) => `SELECT i.id FROM ${shard}.${table} AS i
         LEFT JOIN ${shard}.idempotency AS k ON k.entity = i.id
       WHERE i.partner = ?1 GROUP BY i.id HAVING count(k.entity) <> 1`,
    ).join(' UNION ALL '),
    [partner],
  )
  assert.deepEqual(missing, [], `each intent of ${partner} has its key in ${shard}`)
}

interface Changed {
  readonly entity: string
  readonly state: number
}

/** Events, postings and the states of intents. */
function checkEvents(books: Books, shard: string, tenant: string): void {
  const rows = rowsIn<{ sequence: number; body: string; outcomes: number }>(
    books,
    `SELECT e.sequence, e.body, count(o.position) AS outcomes FROM ${shard}.events AS e
       LEFT JOIN (SELECT position FROM ${shard}.event_outcomes
         UNION ALL SELECT position FROM ${shard}.outbox) AS o ON o.position = e.position
     WHERE e.tenant = ? GROUP BY e.position ORDER BY e.position`,
    [tenant],
  )
  for (const [index, { sequence, outcomes }] of rows.entries()) {
    assert.equal(sequence, index + 1, `${tenant}: events are numbered without a gap`)
    assert.equal(outcomes, 1, `${tenant}: event ${sequence} is delivered, or will be`)
  }
  const events = rows.map(({ body }) => JSON.parse(body) as EntityRow)
  const postings = rowsIn<{ entity: string; was: string; first: number; lines: number }>(
    books,
    `SELECT entity, min(plan) AS was, min(coalesce(posted_as, posting)) AS first,
       count(*) AS lines FROM ${shard}.ledger_entries
     WHERE tenant = ? GROUP BY posting ORDER BY posting`,
    [tenant],
  )
  const posted = postings.map(({ entity }) => entity)
  const wanted = [tenant, ...events.map(({ id }) => id)]
  assert.deepEqual(posted, wanted, `${tenant}: postings are in the order of events`)
  for (const { was, first, lines } of postings)
    assert.deepEqual([Number(was), lines], [first, 2], `${tenant}: a posting is what it was`)
  const last = new Map(events.map(({ id, state }) => [id, state]))
  const intents = rowsIn<Changed>(
    books,
    `SELECT id AS entity, state FROM ${shard}.intents WHERE tenant = ?1
     UNION ALL SELECT id, number FROM ${shard}.payouts WHERE tenant = ?1`,
    [tenant],
  )
  assert.equal(intents.length, last.size, `${tenant} has each intent once`)
  for (const { entity, state } of intents)
    assert.equal(state, last.get(entity), `${entity} is in the state of its last event`)
}

function checkMoney(books: Books, shard: string, tenant: string): void {
  const [count] = rowsIn<{ events: number }>(
    books,
    `SELECT count(*) AS events FROM ${shard}.events WHERE tenant = ?`,
    [tenant],
  )
  const { deposited, available, paid } = accountsOf(tenant)
  const paidCents = PRICE_CENTS * count!.events
  const sumOf = (column: string, from: string): string =>
    `SELECT coalesce(sum(${column}), 0) AS cents FROM ${shard}.${from} = ?`
  const check = (sql: string, of: string, cents: number): void => {
    const [found] = rowsIn<{ cents: number }>(books, sql, [of])
    assert.equal(found!.cents, cents, `${of} is what its events say`)
  }
  for (const [account, cents] of [
    [deposited, -DEPOSIT_CENTS],
    [available, DEPOSIT_CENTS - paidCents],
    [paid, paidCents],
  ] as const) {
    check(sumOf('balance', 'ledger_accounts WHERE id'), account, cents)
    check(sumOf('amount', 'ledger_entries WHERE account'), account, cents)
  }
  check(sumOf('used', 'limit_usage WHERE key'), usageOf(tenant.replace(/_.*/, '')), paidCents)
}
