/**
 * How much is open: payments that are not final, held payouts, unknown outcomes, discrepancies,
 * events without an outcome, payments by rail. For metrics.
 *
 * - Each figure reads a partial index of what is open and stops at its bound, so the cost does not
 *   grow with the books.
 */
import { instant, plus, type Instant } from '../base/clock.js'
import { instantOf } from '../base/ids.js'
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'
import { unknownCountStatement, type UnknownKind } from './unknown_outcomes.js'

/** The highest number that is counted. */
const OPEN_MAX = 10_000

/** How many payments may need their rail, of the first OPEN_MAX of each kind. */
export interface RailPayments {
  /** Null means that they are from before the rails had names. */
  readonly rail: string | null
  readonly count: number
}

export interface OpenWork {
  readonly payments: readonly {
    readonly entity: 'payment_intent' | 'payout' | 'recall'
    readonly state: string
    readonly count: number
  }[]
  readonly discrepancies: number
  /** Timers of payments that are due. */
  readonly overdueTimers: number
  /** Null means that there is none. */
  readonly oldestHeld: Instant | null
  readonly oldestEvent: Instant | null
  readonly rails: readonly RailPayments[]
  /** In the order of the given ages. */
  readonly unknown: Readonly<Record<UnknownKind, readonly number[]>>
}

type Read = <R>(statement: Statement) => Promise<R[]>

export async function readOpenWork(
  read: Read,
  now: Instant,
  agesMs: readonly number[],
): Promise<OpenWork> {
  const counts = await read<{ name: CountName; count: number }>(countsAt(now))
  const countOf = (name: CountName): number =>
    counts.find((counted) => counted.name === name)?.count ?? 0
  const [held] = await read<{ id: string }>(OLDEST_HELD)
  const [event] = await read<{ at: number }>(OLDEST_EVENT)
  const unknownOf = async (kind: UnknownKind): Promise<number[]> => {
    const found: number[] = []
    for (const age of agesMs) {
      const [row] = await read<{ count: number }>(unknownCountStatement(kind, plus(now, -age)))
      found.push(row?.count ?? 0)
    }
    return found
  }
  return {
    payments: [
      { entity: 'payment_intent', state: 'created', count: countOf('created_intents') },
      { entity: 'payment_intent', state: 'authorized', count: countOf('authorized_intents') },
      { entity: 'payout', state: 'created', count: countOf('held_payouts') },
      { entity: 'payout', state: 'processing', count: countOf('processing_payouts') },
    ],
    discrepancies: countOf('discrepancies'),
    overdueTimers: countOf('overdue_intents') + countOf('overdue_payouts'),
    oldestHeld: held === undefined ? null : instantOf(held.id),
    oldestEvent: event === undefined ? null : instant(event.at),
    rails: await read<RailPayments>(BY_RAIL),
    unknown: {
      intents: await unknownOf('intents'),
      payouts: await unknownOf('payouts'),
      recalls: await unknownOf('recalls'),
    },
  }
}

type CountName = keyof typeof OPEN_ROWS

/** Open intents of every state have a timer; the first OPEN_MAX of them are looked at. */
const OPEN_ROWS = {
  created_intents: (d: Dialect) => `SELECT state FROM (SELECT state FROM intents
    ${d.indexedBy('intents_due')} WHERE due_at IS NOT NULL LIMIT ?1) AS due
    WHERE state = 'created'`,
  authorized_intents: (d: Dialect) => `SELECT id FROM intents
    ${d.indexedBy('intents_under_way')} WHERE state = 'authorized' LIMIT ?1`,
  held_payouts: (d: Dialect) => `SELECT id FROM payouts
    ${d.indexedBy('payouts_held')} WHERE state = 'created' LIMIT ?1`,
  processing_payouts: (d: Dialect) => `SELECT id FROM payouts
    ${d.indexedBy('payouts_under_way')} WHERE state = 'processing' LIMIT ?1`,
  discrepancies: (d: Dialect) => `SELECT id FROM discrepancies
    ${d.indexedBy('discrepancies_open')} WHERE resolved_at IS NULL LIMIT ?1`,
  overdue_intents: (d: Dialect) => overdueIn('intents', d),
  overdue_payouts: (d: Dialect) => overdueIn('payouts', d),
}

const overdueIn = (table: 'intents' | 'payouts', d: Dialect): string =>
  `SELECT id FROM ${table} ${d.indexedBy(`${table}_due`)} WHERE due_at <= ?2 LIMIT ?1`

const countsAt = (now: Instant): Statement => ({
  sql: (d) =>
    Object.entries(OPEN_ROWS)
      .map(
        ([name, rows]) =>
          `SELECT '${name}' AS name, CAST(count(*) AS INTEGER) AS count FROM (${rows(d)}) AS found`,
      )
      .join(' UNION ALL '),
  values: [OPEN_MAX, now],
})

/** The rail is null if the row is corrupt, and empty if it is from before the rails had names. */
const railsOf = (d: Dialect, rows: string, ...path: string[]): string => `
  SELECT CASE WHEN ${d.isJson('context')}
    THEN coalesce(${d.text('context', ...path)}, '') END AS rail
  FROM (SELECT context FROM ${rows} ORDER BY id LIMIT ?1) AS open`

const BY_RAIL: Statement = {
  sql: (d) => {
    const rows = [
      railsOf(d, ofState(d, 'payouts', 'payouts_held', 'created'), 'rail'),
      railsOf(d, ofState(d, 'payouts', 'payouts_under_way', 'processing'), 'rail'),
      ...[
        ofState(d, 'intents', 'intents_under_way', 'authorized'),
        `${ofState(d, 'intents', 'intents_captured_due', 'captured')} AND due_at IS NOT NULL`,
      ].map((each) => railsOf(d, each, 'confirmation', 'rail')),
    ]
    return `SELECT nullif(rail, '') AS rail, CAST(count(*) AS INTEGER) AS count
      FROM (${rows.join(' UNION ALL ')}) AS open WHERE rail IS NOT NULL GROUP BY rail`
  },
  values: [OPEN_MAX],
}

const ofState = (d: Dialect, table: string, index: string, state: string): string =>
  `${table} ${d.indexedBy(index)} WHERE state = '${state}'`

const OLDEST_HELD: Statement = {
  sql: (d) => `SELECT id FROM payouts ${d.indexedBy('payouts_held')}
    WHERE state = 'created' ORDER BY id LIMIT 1`,
  values: [],
}

const OLDEST_EVENT: Statement = {
  sql: (d) => `SELECT created_at AS at FROM ${d.openEvents} ORDER BY position LIMIT 1`,
  values: [],
}
