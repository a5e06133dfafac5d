/**
 * The invariants checked after every step, and those checked on disk.
 *
 * Does not own: the checks of responses (client_oracle), the audit (src/audit).
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Clock } from '../../src/base/clock.js'
import { audit } from '../../src/audit/audit.js'
import { openBooks } from '../../src/audit/books.js'
import { conclusion } from '../../src/audit/report.js'
import { systemRandom } from '../../src/base/random.js'
import { FILES } from '../../src/base/subjects.js'
import { partsOf } from '../../src/ledger/accounts.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import type { RailInstruction } from '../../src/rails/rail.js'
import { openJournal } from '../../src/rails/adapter/journal.js'
import { SCHEMA } from '../../src/rails/sandbox/journal.js'
import type { openDatabase } from '../../src/store/sqlite/database.js'
import { createMarks, type Behind } from '../../src/processor/recovery/marks.js'
import { readProgress } from '../../src/store/progress.js'
import type { StoredEvent } from '../../src/store/store.js'
import type { FaultyBus } from './faulty_bus.js'
import type { FaultyRail } from './faulty_rail.js'
import {
  RESTORED,
  type Accepted,
  type Held,
  type Orphan,
  type RestoredTables,
} from './restores/tables.js'
import type { LostBooks } from './restores/lost_books.js'
import { SUBSCRIBED, type Processors } from './processors.js'
import {
  recordStored,
  type AnyRecord,
  type FxQuote,
  type PartnerMemory,
  type SavedBeneficiary,
} from './client_oracle.js'

/** Each currency of a tenant sums to zero; no balance is overdrawn. */
export function checkBalances({ balances }: Memory): void {
  const sums = new Map<string, bigint>()
  for (const [key, balance] of balances) {
    const { tenant, currency, kind } = partsOf(key)
    const of = `${tenant} ${currency}`
    sums.set(of, (sums.get(of) ?? 0n) + balance)
    assert.ok(balance >= 0n || (kind !== 'prefund' && kind !== 'reserved'), `${key} is overdrawn`)
  }
  for (const [of, sum] of sums) assert.equal(sum, 0n, `${of} sums to zero`)
}

/** The state that a restart must restore. */
export const restoredState = (memory: Memory): object => ({
  balances: [...memory.balances].filter(([, balance]) => balance !== 0n).sort(),
  sequences: [...memory.sequences].sort(),
  lastPosition: memory.lastPosition,
  lastPosting: memory.lastPosting,
  lastKeySequence: memory.lastKeySequence,
  discrepancies: [...memory.discrepancyIds].sort(),
})

export interface Row {
  readonly id: string
  readonly state: string
  readonly mark: string
  readonly submittedAt: number | null
  /** The rail's id of the known execution. Null if there is none. */
  readonly transactionId: string | null
  readonly recalled: number
  /** It was held for an orphan execution. */
  readonly wasHeld: number
}

/** What changes, of all rows. */
type StoredRow = Pick<Row, 'id' | 'state'>

export interface InvariantChecker {
  /**
   * The processor's output is on disk before it is sent.
   *
   * @param pausedSince no submission was decided after it. Null means that they may not be paused
   */
  checkOutput(
    instructions: readonly RailInstruction[],
    events: readonly StoredEvent[],
    pausedSince: number | null,
  ): Promise<void>
  /** Every acknowledged request is on disk exactly once. */
  checkAcknowledged(memory: PartnerMemory): Promise<void>
  rows(): Promise<readonly Row[]>
  /** Payouts without an outcome and captured intents. */
  openRows(): Promise<readonly Row[]>
  /** Everything that other processes received is on disk, but what an operator accepted as lost. */
  checkMarks(
    marks: ReturnType<Processors['marks']>,
    rail: FaultyRail,
    bus: FaultyBus,
    lost: LostBooks,
  ): Promise<void>
  /** Marks that the books are behind. */
  behind(
    marks: ReturnType<Processors['marks']>,
    rail: FaultyRail,
    bus: FaultyBus,
  ): Promise<readonly Behind[]>
  missingEvents(ids: readonly string[]): Promise<readonly string[]>
  orphans(): Promise<readonly Orphan[]>
  acceptedLosses(): Promise<readonly Accepted[]>
  /** Payments that wait for a decision, as they equal an orphan execution. */
  held(): Promise<readonly Held[]>
  restoredTables(): Promise<RestoredTables>
  /** Another file takes the place of the books. */
  whileClosed(replace: () => void): Promise<void>
  /**
   * Audits the processor's books and, at the end, the bank's. Before the end, a false report can
   * arrive before the true one, and restored books can lack a return.
   */
  audit(rail: FaultyRail, isEnd: boolean): Promise<void>
  /** Ids that need an operator's review. */
  discrepancies(): Promise<ReadonlySet<string>>
  /** When the next timer is due. */
  nextDueAt(): Promise<number | null>
  /** All events, in order. */
  events(): Promise<readonly Pick<StoredEvent, 'id' | 'type'>[]>
  close(): Promise<void>
}

const rowsWhere = (condition: string): string => `
  SELECT id, state, CAST(context ->> 'amountCents' AS TEXT) AS mark,
    context ->> 'handedOverAt' AS submittedAt, context ->> 'transactionId' AS transactionId,
    context ->> 'recall' IS NOT NULL AS recalled, context ->> 'heldFor' IS NOT NULL AS wasHeld
    FROM intents WHERE ${condition}
  UNION ALL
  SELECT id, state, context ->> 'description', context ->> 'handedOverAt',
    context ->> 'transactionId', 0, context ->> 'heldFor' IS NOT NULL
    FROM payouts WHERE ${condition}
  ORDER BY id`
const ROWS = rowsWhere('true')
/** A run looks at few of its rows after most steps. */
const LISTED = 'id IN (SELECT value FROM json_each(?1))'
const OPEN = "state IN ('processing', 'captured')"
const STATES = `SELECT id, state FROM intents UNION ALL SELECT id, state FROM payouts ORDER BY id`
const PAID = `SELECT id, state FROM payouts WHERE state = 'completed'
  UNION ALL SELECT id, state FROM intents WHERE state = 'captured'`
const IS_SUBMITTED = `${LISTED} AND context ->> 'handedOverAt' IS NOT NULL`
const SUBMITTED = `SELECT id FROM intents WHERE ${IS_SUBMITTED}
  UNION ALL SELECT id FROM payouts WHERE ${IS_SUBMITTED}`
const STORED_EVENTS = `SELECT id FROM events WHERE ${LISTED}`

/** The status of a beneficiary, or the conversion of an FX quote. */
interface StatusRow {
  readonly id: string
  readonly status: string
}

const BENEFICIARIES = 'SELECT id, status FROM beneficiaries'
const CONVERTED = 'SELECT id, conversion AS status FROM fx_quotes WHERE conversion IS NOT NULL'

const NEXT_DUE = `SELECT min(at) AS at FROM (
  SELECT min(due_at) AS at FROM intents UNION ALL SELECT min(due_at) FROM payouts)`

export async function openInvariantChecker(
  folder: string,
  clock: Clock,
  open: typeof openDatabase,
): Promise<InvariantChecker> {
  const file = join(folder, FILES.processorDatabase)
  let disk = await open(file, { readOnly: true })
  /** The marks of stored rows, by id. */
  const marks = new Map<string, string>()
  const rows = async (): Promise<readonly Row[]> => {
    const found = await disk.all<Row>(ROWS)
    for (const { id, mark } of found) {
      assert.equal(mark, marks.get(id) ?? mark, `${id} is of one request`)
      marks.set(id, mark)
    }
    return found
  }
  const rowsOf = async (ids: readonly string[]): Promise<ReadonlyMap<string, Row>> => {
    const found = await disk.all<Row>(rowsWhere(LISTED), [JSON.stringify(ids)])
    return new Map(found.map((row) => [row.id, row]))
  }
  /** Those of these ids that a query finds. */
  const idsIn = async (sql: string, ids: readonly string[]): Promise<readonly string[]> => {
    const found = await disk.all<{ id: string }>(sql, [JSON.stringify(ids)])
    return found.map(({ id }) => id)
  }
  const byMark = async (): Promise<ReadonlyMap<string, readonly StoredRow[]>> => {
    const found = await disk.all<StoredRow>(STATES)
    const unknown = found.flatMap(({ id }) => (marks.has(id) ? [] : id))
    for (const [id, { mark }] of await rowsOf(unknown)) marks.set(id, mark)
    const stored = new Map<string, StoredRow[]>()
    for (const row of found) {
      const mark = marks.get(row.id)!
      const others = stored.get(mark)
      if (others === undefined) stored.set(mark, [row])
      else others.push(row)
    }
    return stored
  }
  const missingEvents = async (ids: readonly string[]): Promise<string[]> => {
    const known = new Set(await idsIn(STORED_EVENTS, ids))
    return ids.filter((id) => !known.has(id))
  }
  const orphans = (): Promise<Orphan[]> => disk.all<Orphan>(RESTORED.orphans)
  /** The payments of instructions, also of those that orphan executions are matched to. */
  const instructedRows = async (ids: readonly string[]): Promise<ReadonlyMap<string, Row>> => {
    const byId = await rowsOf(ids)
    if (ids.every((id) => byId.has(id))) return byId
    const matched = (await orphans()).filter(({ matchedTo }) => matchedTo !== null)
    const paid = await rowsOf(matched.map(({ matchedTo }) => matchedTo!))
    const byOrphan = matched.map(
      ({ instruction, matchedTo }) => [instruction, paid.get(matchedTo!)!] as const,
    )
    return new Map([...byOrphan, ...byId])
  }
  /** The books that had it are lost: an operator inquires about it. */
  const lacksReturn = async ({ entries }: FaultyRail): Promise<boolean> => {
    const paid = await disk.all<StoredRow>(PAID)
    return paid.some(({ id }) => {
      const entry = entries.get(id)
      return entry?.state === 'returned' && entry.reportId === null
    })
  }
  const behind: InvariantChecker['behind'] = async (
    { books, highWater, ...recorded },
    rail,
    bus,
  ) => {
    const onDisk = recorded.onDisk ?? (await readProgress(disk))
    const marks = createMarks({ ...books, progress: () => onDisk }, clock)
    await marks.check({ kind: 'high_water', source: 'file', progress: highWater })
    for (const [index, id] of bus.newest().entries())
      await marks.check({ kind: 'event', source: `events ${index}`, id })
    const [instruction] = [...rail.entries.keys()].slice(-1)
    if (instruction !== undefined)
      await marks.check({ kind: 'instruction', source: 'rail', id: instruction })
    return marks.behind()
  }

  return {
    checkOutput: async (instructions, sent, pausedSince) => {
      if (instructions.length > 0) {
        const byId = await instructedRows(instructions.flatMap(idsOf))
        for (const instruction of instructions) checkInstruction(instruction, byId, pausedSince)
      }
      if (sent.length === 0) return
      const missing = await missingEvents(sent.map(({ id }) => id))
      assert.deepEqual(missing, [], 'an event is on disk before it is published')
    },
    checkAcknowledged: async ({ intents, payouts, saved, quotes }) => {
      const stored = await byMark()
      for (const record of [...intents, ...payouts])
        checkRecord(record, stored.get(record.mark) ?? [])
      checkSaved(saved, await disk.all<StatusRow>(BENEFICIARIES))
      checkConverted(quotes, await disk.all<StatusRow>(CONVERTED))
    },
    rows,
    openRows: () => disk.all<Row>(rowsWhere(OPEN)),
    checkMarks: async (marks, rail, bus, lost) => {
      const [newest] = [...rail.entries.keys()].slice(-1)
      // A rail that has forgotten its newest instruction names one that was not accepted as lost.
      const forgot = newest !== undefined && lost.instructions.has(newest)
      const found = await behind(marks, rail, bus)
      assert.deepEqual(forgot ? found.filter(({ mark }) => mark.source !== 'rail') : found, [])
      const missing = (await missingEvents([...bus.pool.keys()])).filter(
        (id) => !lost.events.has(id),
      )
      const instructed = [...rail.entries.keys()].filter((id) => !lost.instructions.has(id))
      const submitted = new Set(await idsIn(SUBMITTED, instructed))
      missing.push(...instructed.filter((id) => !submitted.has(id)))
      assert.deepEqual(missing, [], 'what other processes have is on disk')
    },
    behind,
    missingEvents,
    orphans,
    acceptedLosses: () => disk.all<Accepted>(RESTORED.accepted),
    held: () => disk.all<Held>(RESTORED.held),
    restoredTables: async () => {
      const pairs = async <Value>(sql: string): Promise<ReadonlyMap<string, Value>> => {
        const found = await disk.all<{ id: string; value: Value }>(sql)
        return new Map(found.map(({ id, value }) => [id, value]))
      }
      return {
        beneficiaries: await pairs<string>(RESTORED.beneficiaries),
        quotes: await pairs<string | null>(RESTORED.quotes),
        revokedKeys: await pairs<0 | 1>(RESTORED.revokedKeys),
        confirmed: await pairs<string>(RESTORED.confirmed),
      }
    },
    whileClosed: async (replace) => {
      await disk.close()
      replace()
      disk = await open(file, { readOnly: true })
    },
    audit: async (rail, isEnd) => {
      await writeRailBooks(folder, rail, open)
      const books = await openBooks(folder, clock, { open })
      const isForgotten = (await orphans()).some(
        ({ instruction, status }) => status === 'open' && !rail.entries.has(instruction),
      )
      const options = {
        live: !isEnd && (rail.falselyReported.size > 0 || isForgotten || (await lacksReturn(rail))),
        stopwatch: () => 0,
        onCheck: () => undefined,
      }
      const verdict = await audit(books, options)
      await books.close()
      assert.ok(verdict.clean, conclusion(verdict))
    },
    discrepancies: async () => {
      const found = await disk.all<{ entity: string }>('SELECT entity FROM discrepancies')
      return new Set(found.map(({ entity }) => entity))
    },
    nextDueAt: async () => (await disk.all<{ at: number | null }>(NEXT_DUE))[0]?.at ?? null,
    events: () => disk.all('SELECT id, type FROM events ORDER BY position'),
    close: () => disk.close(),
  }
}

const idsOf = (instruction: RailInstruction): readonly string[] =>
  instruction.kind === 'instruct'
    ? [instruction.instruction.id]
    : instruction.kind === 'recall'
      ? [instruction.id]
      : []

function checkInstruction(
  instruction: RailInstruction,
  rows: ReadonlyMap<string, Row>,
  pausedSince: number | null,
): void {
  if (instruction.kind === 'instruct') {
    const submittedAt = rows.get(instruction.instruction.id)?.submittedAt
    assert.ok(typeof submittedAt === 'number', 'a submission is on disk before it is sent')
    assert.ok(submittedAt <= (pausedSince ?? Infinity), 'nothing is submitted during a pause')
  } else if (instruction.kind === 'recall') {
    assert.equal(rows.get(instruction.id)?.recalled, 1, 'a recall is on disk before it is sent')
  }
}

function checkRecord(record: AnyRecord, rows: readonly StoredRow[]): void {
  const [row] = rows
  const name = record.id ?? record.mark
  if (record.creation.answer !== null)
    assert.equal(row?.id, record.id, `${name} was accepted and is stored`)
  assert.ok(rows.length <= (record.key === null ? record.sent : 1), `${name} is stored once`)
  if (row !== undefined && record.creation.answer !== null) recordStored(record, row.state)
}

function checkSaved(saved: readonly SavedBeneficiary[], rows: readonly StatusRow[]): void {
  const statuses = new Map(rows.map(({ id, status }) => [id, status]))
  for (const { id, disabled } of saved) {
    const status = statuses.get(id)
    assert.ok(disabled ? status === 'disabled' : status !== undefined, `${id} is ${status}`)
  }
}

/** The audit checks that each of these has one posting. */
function checkConverted(quotes: readonly FxQuote[], rows: readonly StatusRow[]): void {
  const statuses = new Map(rows.map(({ id, status }) => [id, status]))
  for (const { id, conversion } of quotes) {
    if (conversion.answer === null) continue
    const { id: conversionId } = JSON.parse(conversion.answer) as { id: string }
    assert.equal(statuses.get(id), conversionId, `${id} is converted once`)
  }
}

/** Written for an earlier audit. */
const FORGOTTEN = 'DELETE FROM instructions WHERE id NOT IN (SELECT value FROM json_each(?))'

async function writeRailBooks(
  folder: string,
  { entries, discrepancies }: FaultyRail,
  open: typeof openDatabase,
): Promise<void> {
  const file = join(folder, FILES.railDatabase)
  const database = await open(file)
  const journal = await openJournal({ file, schema: SCHEMA, random: systemRandom(), open })
  await database.run(FORGOTTEN, [JSON.stringify([...entries.keys()])])
  await journal.write({ entries: [...entries.values()], acknowledged: [], discrepancies })
  await journal.close()
  await database.close()
}

/** At the end the pool has every event that the endpoint subscribes to, and no other. */
export async function checkDelivered(
  checker: InvariantChecker,
  bus: FaultyBus,
  lost: Pick<LostBooks, 'events'>,
): Promise<void> {
  const delivered = [...bus.pool.keys()].filter((id) => !lost.events.has(id)).sort()
  const expected = (await checker.events()).filter(({ type }) => SUBSCRIBED.has(type))
  const ids = expected.map(({ id }) => id).sort()
  assert.deepEqual(delivered, ids, 'every event with a subscriber reached the pool')
}
