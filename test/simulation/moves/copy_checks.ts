/**
 * Checks of the rows that are set apart for the move of a partner, after each step, and that none
 * are left at the end.
 *
 * - Before the move each entry, event and key that is set apart has one twin with the numbers that
 *   it will have in the other shard. What is set apart is of the partner.
 * - The payments that are set apart are those that reports of a rail will follow.
 * - The entries that are set apart are not changed any more once they are summed.
 */
import assert from 'node:assert/strict'
import { renumbered, setApart } from '../../../src/store/cluster/partner_copy_tables.js'
import type { PartnerMove } from '../../../src/store/cluster/partner_moves.js'
import type { Shifts } from '../../../src/store/cluster/partner_numbers.js'
import { tenantOfPartner } from './commits.js'
import { checkPartners } from './partner_checks.js'
import type { ClusterServer } from './server.js'
import { SHARDS } from './tables.js'

type Books = Pick<ClusterServer, 'tables' | 'seen'>

const PAYMENTS = ['intents', 'payouts'] as const

interface StoredCopy extends PartnerMove {
  readonly phase: string
  readonly begun: number | null
  readonly shifts: string
  readonly sums: string
}

/** Their numbers in the other shard, and what else twins have alike. */
const TWINS = [
  ['ledger_entries', 'posting', 'posting', ['line', 'account', 'amount', 'entity']],
  ['events', 'position', 'position', ['tenant', 'sequence', 'body']],
  ['event_outcomes', 'position', 'position', ['settled_at']],
  ['idempotency', 'sequence', 'key', ['key', 'entity']],
] as const

/** @param changed the tables that the step has changed. @throws AssertionError */
export function checkStep(books: Books, changed: readonly string[]): void {
  const copies = books.tables.all<StoredCopy>(
    `SELECT partner, from_shard AS "from", to_shard AS "to", phase, begun_at AS begun, shifts, sums
     FROM partner_copies`,
  )
  for (const copy of copies) {
    const own = `${copy.to}."${copy.partner} `
    if (!changed.some((name) => name.startsWith(own))) continue
    checkPartners(books, [copy.partner])
    if (copy.begun !== null && isBeforeMove(copy)) checkCopy(books, copy)
  }
}

const isBeforeMove = ({ phase }: StoredCopy): boolean => phase === 'copying' || phase === 'ready'

function checkCopy({ tables, seen }: Books, copy: StoredCopy): void {
  const { partner, from, phase } = copy
  const shifts = JSON.parse(copy.shifts) as Shifts
  const all = <Row>(sql: string): Row[] => tables.all<Row>(seen(sql))
  for (const [table, number, kind, columns] of TWINS) {
    const list = columns.join()
    const apart = all(`SELECT ${number} + ${shifts[kind]} AS number, ${list}
      FROM ${setApart(copy, table)} ORDER BY ${number}, ${columns[0]}`)
    const twins = all(`SELECT ${number} AS number, ${list}
      FROM ${renumbered(copy, table)} ORDER BY ${number}, ${columns[0]}`)
    assert.deepEqual(
      twins,
      apart,
      `${partner}: each row of ${table} that is set apart has its twin`,
    )
  }
  const others = PAYMENTS.flatMap((table) =>
    all(`SELECT id FROM ${setApart(copy, table)}
      WHERE partner <> '${partner}' OR due_at IS NOT NULL`),
  )
  assert.deepEqual(others, [], `${partner}: its own ended intents are set apart`)
  const followed = all(`SELECT id FROM ${setApart(copy, 'moved_payments')}
    UNION SELECT m.id FROM ${from}.moved_payments AS m ORDER BY id`)
  const payments = all(`SELECT id FROM ${setApart(copy, 'intents')}
    UNION SELECT id FROM ${setApart(copy, 'payouts')}
    UNION SELECT m.id FROM ${from}.moved_payments AS m ORDER BY id`)
  assert.deepEqual(followed, payments, `${partner}: reports follow the payments that are set apart`)
  if (phase !== 'ready') return
  const sums = all<{ account: string; sum: number }>(`SELECT account, sum(amount) AS sum
    FROM ${setApart(copy, 'ledger_entries')} GROUP BY account ORDER BY account`)
  const stored = Object.entries(JSON.parse(copy.sums) as Record<string, unknown>)
    .map(([account, sum]) => ({ account, sum: Number(sum) }))
    .sort((one, other) => (one.account < other.account ? -1 : 1))
  assert.deepEqual(stored, sums, `${partner}: sums of what is set apart`)
  const isOwn = sums.every(({ account }) => account.startsWith(`${tenantOfPartner(partner)}:`))
  assert.ok(isOwn, `${partner}: its own entries are set apart`)
}

/** All rows are in the tables of a shard. @throws AssertionError */
export function checkNothingIsLeft({ tables }: Books): void {
  for (const table of ['made_tables', 'made_functions', 'made_triggers'])
    assert.deepEqual(tables.all(`SELECT * FROM ${table}`), [], `${table} has nothing`)
  for (const shard of SHARDS) {
    const left = tables.all(`SELECT name FROM ${shard}.meta WHERE name LIKE 'left by %'`)
    assert.deepEqual(left, [], `${shard} has forgotten the partners that have left`)
  }
}
