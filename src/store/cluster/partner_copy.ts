/**
 * Sets the rows of a partner apart while it works, so that its move has only the rest to carry.
 *
 * Owns: the record of it, its bounded steps. Does not own: the tables
 * (cluster/partner_copy_tables), the move (cluster/partner_transfer), the steps afterwards
 * (cluster/partner_settling), who takes the steps (processor/cluster/partner_copies).
 *
 * - A step is one transaction with its cursor, so a crash loses at most a step. It waits for no
 *   lock longer than LOCK_WITHIN_MS: a commit is never the victim of a deadlock.
 * - Entries, events and keys never change. Of the others only those are set apart that have ended;
 *   one that is written again goes with the rest.
 */
import { crashPoint } from '../../base/crash_point.js'
import type { Connection } from '../postgres/connection.js'
import { madeTables, renumbered, setApart } from './partner_copy_tables.js'
import {
  FINGERPRINT,
  FINGERPRINT_BYTES,
  inTenants,
  isKeyOf,
  linksIn,
  linksPage,
  tenantsOf,
} from './partner_fingerprints.js'
import type { PartnerMove } from './partner_moves.js'
import {
  AFTER,
  firstIndexed,
  KEY_SEARCH,
  lastNumbers,
  LINK_SEARCH,
  linkShift,
  misfitOf,
  pageEnds,
  shiftsTo,
  type Numbers,
  type Shifts,
} from './partner_numbers.js'

/** `copying` and `ready` are before the move, `settling` is after it. */
export type CopyPhase = 'copying' | 'ready' | 'settling' | 'undoing'

export interface PartnerCopy extends PartnerMove {
  readonly actor: string
  readonly reason: string
  readonly phase: CopyPhase
  /** Null means that its tables are not made yet. */
  readonly begunAt: number | null
  readonly shifts: Shifts
  readonly cursors: Readonly<Record<string, string>>
  readonly sums: Readonly<Record<string, string>>
  readonly payments: number
  /** How often the move was requested. */
  readonly attempts: number
}

export type Rows = Pick<Connection, 'all' | 'run' | 'exec'>

/** A cursor after the move: later links of the shard that was left are of others. */
export const LAST_LINKS = 'last links'
export const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
/** Rows of a step at scale 1. */
const PAGE = 500
/** Rows that are only read. */
const SEARCHED_PAGE = 4 * PAGE
/** Less than PostgreSQL's deadlock_timeout. */
const LOCK_WITHIN_MS = 100
/** Less than a commit waits for its answer. */
const RESTS_WITHIN = '3s'
const COLUMNS = `partner, from_shard AS "from", to_shard AS "to", actor, reason, phase,
  begun_at AS "begunAt", shifts, cursors, sums, payments, attempts`

interface StoredCopy extends Omit<PartnerCopy, 'shifts' | 'cursors' | 'sums'> {
  readonly shifts: string
  readonly cursors: string
  readonly sums: string
}

const read = ({ shifts, cursors, sums, ...copy }: StoredCopy): PartnerCopy => ({
  ...copy,
  shifts: JSON.parse(shifts) as Shifts,
  cursors: JSON.parse(cursors) as PartnerCopy['cursors'],
  sums: JSON.parse(sums) as PartnerCopy['sums'],
})

export async function copyOf(
  rows: Pick<Connection, 'all'>,
  partner: string,
): Promise<PartnerCopy | undefined> {
  const sql = `SELECT ${COLUMNS} FROM cluster.partner_copies WHERE partner = ?`
  const [copy] = await rows.all<StoredCopy>(sql, [partner])
  return copy && read(copy)
}

/**
 * A step reads a page by index, whatever the statistics of tables that have just been filled. Its
 * subqueries are of values, each found by index: EXISTS could read all rows for a hash of them. It
 * waits for no disk: a crash that loses it loses its cursor too, and nothing that was later. The
 * server ends one that rests: commits of the next owner would wait for a machine that is cut off.
 */
const BEGIN = `BEGIN; SET LOCAL lock_timeout = '${LOCK_WITHIN_MS}ms';
  SET LOCAL idle_in_transaction_session_timeout = '${RESTS_WITHIN}';
  SET LOCAL synchronous_commit = off; SET LOCAL jit = off;
  SET LOCAL enable_seqscan = off; SET LOCAL enable_mergejoin = off;
  SET LOCAL enable_hashjoin = off`

/** @throws the server's error 55P03 when a lock is not free soon */
export async function inStep<Result>(rows: Rows, run: () => Promise<Result>): Promise<Result> {
  await rows.exec(BEGIN)
  try {
    const result = await run()
    await rows.exec('COMMIT')
    return result
  } catch (error) {
    await rows.exec('ROLLBACK').catch(() => undefined)
    throw error
  }
}

type Saved = Partial<
  Pick<PartnerCopy, 'phase' | 'cursors' | 'sums' | 'payments' | 'shifts' | 'begunAt' | 'attempts'>
>

/**
 * The copy as it was read. A former owner that was stopped in between has read an earlier one: its
 * step would take back what later ones have done.
 */
export const AS_READ = 'partner = ? AND phase = ? AND cursors = ?'
export const asRead = ({ partner, phase, cursors }: PartnerCopy): readonly string[] => [
  ...[partner, phase, JSON.stringify(cursors)],
]

export async function saveCopy(rows: Rows, copy: PartnerCopy, changed: Saved): Promise<void> {
  const { phase, cursors, sums, payments, shifts, begunAt, attempts } = { ...copy, ...changed }
  const updated = await rows.run(
    `UPDATE cluster.partner_copies SET phase = ?, begun_at = ?, attempts = ?, payments = ?,
       cursors = ?, sums = ?, shifts = ?
     WHERE ${AS_READ}`,
    [
      ...[phase, begunAt, attempts, payments],
      ...[JSON.stringify(cursors), JSON.stringify(sums), JSON.stringify(shifts)],
      ...asRead(copy),
    ],
  )
  if (updated === 0) throw new Error(`the move of ${copy.partner} has gone on meanwhile`)
}

/** The move cannot be made. */
export class Misfit extends Error {}

/** @returns false when the partner's first numbers are known */
async function searchStep(rows: Rows, copy: PartnerCopy, page: number): Promise<boolean> {
  const search = [KEY_SEARCH, LINK_SEARCH].find(({ found }) => copy.cursors[found] === undefined)
  if (search === undefined) return false
  await inStep(rows, async () => {
    const after = copy.cursors[search.reached] ?? ''
    const [read] = await rows.all<{ last: number | null; first: number | null; ended: boolean }>(
      search.sql(copy, page),
      [after],
    )
    const { last, first, ended } = read!
    const reached = last ?? Number(after)
    const found = first ?? (ended ? reached + 1 : null)
    await saveCopy(rows, copy, {
      cursors: {
        ...{ ...copy.cursors, [search.reached]: String(reached) },
        ...(found === null ? {} : { [search.found]: String(found) }),
      },
    })
  })
  return true
}

async function begin(rows: Rows, copy: PartnerCopy): Promise<void> {
  const numbers = async (shard: string): Promise<Numbers> =>
    (await rows.all<Numbers>(lastNumbers(shard)))[0]!
  const [target, source] = [await numbers(copy.to), await numbers(copy.from)]
  const [first] = await inStep(rows, () =>
    rows.all<{ posting: number | null; position: number | null }>(firstIndexed(copy)),
  )
  const shifts = shiftsTo(target, {
    posting: (first!.posting ?? source.posting + 1) - 1,
    position: (first!.position ?? source.position + 1) - 1,
    key: Number(copy.cursors[KEY_SEARCH.found]) - 1,
    intent: Number(copy.cursors[LINK_SEARCH.found]) - 1,
  })
  const misfit = misfitOf(shifts, source, target)
  if (misfit !== null) throw new Misfit(misfit)
  const [at] = await rows.all<{ now: number }>(`SELECT ${NOW} AS now`)
  await inStep(rows, async () => {
    await rows.exec(madeTables(copy, shifts))
    await saveCopy(rows, copy, { shifts, begunAt: at!.now })
  })
}

interface Step {
  /** A name for its cursor. */
  readonly name: string
  /** Takes a page after `?1`; returns its last cursor, its rows, and whether it ends the table. */
  readonly sql: string
}

/** What comes meanwhile is left to the next pass: a busy partner would never let this one end. */
const pageEnd = (cursor: string, from: string, size: number): string =>
  `SELECT ${cursor} AS last, count(*) AS rows, count(*) < ${size} AS ended FROM ${from}`
/** As numbers have gaps, a page may have fewer. */
const numbersEnd = (column: string, table: string): string =>
  `SELECT max(${column})::text AS last, count(*) AS rows, ${pageEnds(column, `ONLY ${table}`)}
     FROM page`

function plainStep(
  copy: PartnerCopy,
  table: 'intents' | 'payouts' | 'beneficiaries',
  tenant: string,
  page: number,
): Step {
  const { from, partner } = copy
  const isPayment = table !== 'beneficiaries'
  const ended = isPayment
    ? `AND due_at IS NULL AND state NOT IN ('created', 'authorized', 'processing')`
    : ''
  const moved = isPayment
    ? `, moved AS (INSERT INTO ${setApart(copy, 'moved_payments')} (id, partner)
        SELECT id, '${partner}' FROM gone
        WHERE (SELECT true FROM ${from}.moved_payments AS m WHERE m.id = gone.id) IS NULL)`
    : ''
  return {
    name: `${table} ${tenant}`,
    sql: `WITH page AS (SELECT id FROM ONLY ${from}.${table}
        WHERE tenant = '${tenant}' AND id > ?1 ${ended} ORDER BY tenant, id LIMIT ${page}
        FOR UPDATE SKIP LOCKED),
      gone AS (DELETE FROM ONLY ${from}.${table} AS x USING page WHERE x.id = page.id
        RETURNING x.*),
      kept AS (INSERT INTO ${setApart(copy, table)} SELECT * FROM gone)
      ${moved}
      ${pageEnd('max(id)', 'gone', page)}`,
  }
}

const usageStep = (copy: PartnerCopy, tenant: string, page: number): Step => ({
  name: `limit_usage ${tenant}`,
  sql: `WITH page AS (SELECT key FROM ONLY ${copy.from}.limit_usage
      WHERE key > ?1 AND key >= '["${tenant}",' AND key < '["${tenant}"-'
      ORDER BY key LIMIT ${page} FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM ONLY ${copy.from}.limit_usage AS x USING page WHERE x.key = page.key
      RETURNING x.*),
    kept AS (INSERT INTO ${setApart(copy, 'limit_usage')} SELECT * FROM gone)
    ${pageEnd('max(key)', 'gone', page)}`,
})

const entriesStep = (copy: PartnerCopy, tenant: string, page: number): Step => ({
  name: `ledger_entries ${tenant}`,
  sql: `WITH page AS (SELECT DISTINCT posting FROM (SELECT posting
        FROM ONLY ${copy.from}.ledger_entries
        WHERE tenant = '${tenant}' AND posting > ${AFTER} ORDER BY tenant, posting, line
        LIMIT ${page}) AS lines),
    gone AS (DELETE FROM ONLY ${copy.from}.ledger_entries AS x USING page
      WHERE x.posting = page.posting RETURNING x.*),
    kept AS (INSERT INTO ${setApart(copy, 'ledger_entries')} SELECT * FROM gone),
    twins AS (INSERT INTO ${renumbered(copy, 'ledger_entries')} (posting, line, account, tenant,
        amount, balance, plan, entity, at, posted_as)
      SELECT posting + ${copy.shifts.posting}, line, account, tenant, amount, balance, plan, entity,
        at, coalesce(posted_as, posting) FROM gone)
    ${pageEnd('max(posting)::text', 'gone', page)}`,
})

/** Only events whose deliveries have ended: their outcomes never change. */
const eventsStep = (copy: PartnerCopy, tenant: string, page: number): Step => {
  const columns = `id, tenant, sequence, type, entity, created_at, body, request_id, cause,
    traceparent`
  const { position } = copy.shifts
  return {
    name: `events ${tenant}`,
    sql: `WITH page AS (SELECT position FROM ONLY ${copy.from}.events AS e
        WHERE tenant = '${tenant}' AND sequence > ${AFTER} AND (
          SELECT true FROM ONLY ${copy.from}.event_outcomes AS o WHERE o.position = e.position)
        ORDER BY tenant, sequence LIMIT ${page}),
      gone AS (DELETE FROM ONLY ${copy.from}.events AS x USING page
        WHERE x.position = page.position RETURNING x.*),
      outcomes AS (DELETE FROM ONLY ${copy.from}.event_outcomes AS x USING page
        WHERE x.position = page.position RETURNING x.*),
      kept AS (INSERT INTO ${setApart(copy, 'events')} SELECT * FROM gone),
      kept_outcomes AS (INSERT INTO ${setApart(copy, 'event_outcomes')} SELECT * FROM outcomes),
      twins AS (INSERT INTO ${renumbered(copy, 'events')} (position, ${columns})
        SELECT position + ${position}, ${columns} FROM gone),
      twin_outcomes AS (INSERT INTO ${renumbered(copy, 'event_outcomes')} (position, settled_at)
        SELECT position + ${position}, settled_at FROM outcomes)
      ${pageEnd('max(sequence)::text', 'gone', page)}`,
  }
}

/** A deleted key writes the row of its fingerprint again. */
const FINGERPRINTS_PER_ROW = 500

const keysStep = (copy: PartnerCopy, page: number): Step => ({
  name: 'idempotency',
  sql: `WITH page AS (SELECT sequence FROM ONLY ${copy.from}.idempotency
      WHERE sequence > ${AFTER} AND sequence < ${page} + (SELECT min(sequence)
        FROM ONLY ${copy.from}.idempotency WHERE sequence > ${AFTER})),
    gone AS (DELETE FROM ONLY ${copy.from}.idempotency AS x USING page
      WHERE x.sequence = page.sequence AND ${isKeyOf(copy.from, copy.partner, 'x.entity')}
      RETURNING x.*),
    kept AS (INSERT INTO ${setApart(copy, 'idempotency')} SELECT * FROM gone),
    twins AS (INSERT INTO ${renumbered(copy, 'idempotency')} (sequence, key, request_hash, entity,
        response)
      SELECT sequence + ${copy.shifts.key}, key, request_hash, entity, response FROM gone),
    prints AS (INSERT INTO ${renumbered(copy, 'idempotency_prints')} (first, prints)
      SELECT min(sequence) + ${copy.shifts.key},
        string_agg(decode(repeat('00', ${FINGERPRINT_BYTES} * others::integer), 'hex')
          || ${FINGERPRINT}, ''::bytea ORDER BY sequence)
      FROM (SELECT sequence, key, part,
          sequence - 1 - lag(sequence, 1, sequence - 1) OVER (PARTITION BY part ORDER BY sequence)
            AS others
        FROM (SELECT sequence, key, sequence / ${FINGERPRINTS_PER_ROW} AS part FROM gone) AS parted
      ) AS own GROUP BY part)
    ${numbersEnd('sequence', `${copy.from}.idempotency`)}`,
})

const linksStep = (copy: PartnerCopy, page: number): Step => {
  const isOwn = (id: string): string =>
    `(SELECT tenant FROM ${copy.from}.intents AS i WHERE i.id = ${id}) ${inTenants(copy.partner)}`
  const rows = linksIn(
    copy.from,
    linkShift(copy.shifts),
    'r.first IN (SELECT first FROM page)',
    isOwn,
  )
  return {
    name: 'intent_users',
    sql: `WITH page AS (${linksPage(copy.from, AFTER, page)}),
      twins AS (INSERT INTO ${renumbered(copy, 'intent_users')} (first, prints, links) ${rows})
      ${numbersEnd('first', `${copy.from}.intent_users`)}`,
  }
}

const stepsOf = (copy: PartnerCopy, page: number): readonly Step[] => [
  ...tenantsOf(copy.partner).flatMap((tenant) => [
    ...(['intents', 'payouts', 'beneficiaries'] as const).map((table) =>
      plainStep(copy, table, tenant, page),
    ),
    usageStep(copy, tenant, page),
    ...[entriesStep(copy, tenant, page), eventsStep(copy, tenant, page)],
  ]),
  ...[keysStep(copy, page), linksStep(copy, page)],
]

/** These are read from the start in each pass: rows that were open may have ended. */
const isRepeated = (name: string): boolean =>
  !/^(ledger_entries|idempotency|intent_users)/.test(name)

/** What the next step takes from. */
export const tableOf = ({ partner, phase, cursors }: PartnerCopy): string =>
  [partner, phase, ...POSITIONS.map((name) => cursors[name])].join()
const POSITIONS = ['step', 'emptied', 'dropped'] as const

/** One step. @returns false at the end of a pass over all tables */
export async function copyStep(rows: Rows, copy: PartnerCopy, scale = 1): Promise<boolean> {
  if (copy.begunAt === null) {
    if (!(await searchStep(rows, copy, Math.ceil(SEARCHED_PAGE * scale)))) await begin(rows, copy)
    return true
  }
  const at = Number(copy.cursors['step'] ?? 0)
  const step = stepsOf(copy, Math.ceil(PAGE * scale))[at]
  if (step === undefined) {
    const kept = Object.entries(copy.cursors).filter(
      ([name]) => name !== 'step' && !isRepeated(name),
    )
    await saveCopy(rows, copy, { cursors: Object.fromEntries(kept) })
    return false
  }
  await inStep(rows, async () => {
    const cursor = copy.cursors[step.name] ?? ''
    const [done] = await rows.all<{ last: string | null; rows: number; ended: boolean }>(step.sql, [
      cursor,
    ])
    const { last, rows: count, ended } = done!
    const isPayments = /^(intents|payouts) /.test(step.name)
    await saveCopy(rows, copy, {
      cursors: {
        ...copy.cursors,
        ...(last === null ? {} : { [step.name]: last }),
        ...(ended ? { step: String(at + 1) } : {}),
      },
      payments: copy.payments + (isPayments ? count : 0),
    })
    crashPoint('partner_copy.step')
  })
  return true
}

/** Payments that are not set apart. */
export async function restOf(rows: Pick<Rows, 'all'>, move: PartnerMove): Promise<number> {
  const count = (table: string): string => `(SELECT count(*) FROM ONLY ${move.from}.${table}
    WHERE tenant ${inTenants(move.partner)})`
  const [rest] = await rows.all<{ payments: number }>(
    `SELECT ${count('intents')} + ${count('payouts')} AS payments`,
  )
  return rest!.payments
}

/**
 * Between two passes: without what was deleted the tables of the shard are read as fast as before,
 * and the plans of queries know of those that have been filled.
 */
export async function vacuum(rows: Rows, copy: PartnerCopy): Promise<void> {
  const emptied = [...SHRUNK].map((table) => `${copy.from}.${table}`)
  for (const table of emptied) await rows.exec(`VACUUM (ANALYZE) ${table}`)
  const filled = SHRUNK.map((table) => setApart(copy, table))
  const twins = TWINS.map((table) => renumbered(copy, table))
  for (const table of [...filled, ...twins]) await rows.exec(`ANALYZE ${table}`)
}
const TWINS = ['ledger_entries', 'events', 'event_outcomes', 'idempotency', 'intent_users'] as const
const SHRUNK = [
  ...(['intents', 'payouts', 'beneficiaries', 'limit_usage', 'ledger_entries'] as const),
  ...(['events', 'event_outcomes', 'idempotency'] as const),
] as const

/** Counts payments and sums entries that are set apart: from now on there are no more. */
export async function makeReady(rows: Rows, copy: PartnerCopy): Promise<void> {
  const sums = await rows.all<{ account: string; sum: string }>(
    `SELECT account, sum(amount)::text AS sum FROM ${setApart(copy, 'ledger_entries')}
     GROUP BY account`,
  )
  const count = (table: string): string => `(SELECT count(*) FROM ${setApart(copy, table)})`
  const [counted] = await rows.all<{ payments: number }>(
    `SELECT ${count('intents')} + ${count('payouts')} AS payments`,
  )
  await saveCopy(rows, copy, {
    phase: 'ready',
    payments: counted!.payments,
    sums: Object.fromEntries(sums.map(({ account, sum }) => [account, sum])),
  })
  crashPoint('partner_copy.ready')
}
