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
import { FILES } from '../../src/base/subjects.js'
import { partsOf } from '../../src/ledger/accounts.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import type { RailInstruction } from '../../src/rails/rail.js'
import { openJournal } from '../../src/rails/sandbox/journal.js'
import { openDatabase } from '../../src/store/database.js'
import { createMarks } from '../../src/processor/recovery/marks.js'
import { readProgress, type Progress, type ProgressQueries } from '../../src/store/progress.js'
import type { StoredEvent } from '../../src/store/store.js'
import type { FaultyBus } from './faulty_bus.js'
import type { FaultyRail } from './faulty_rail.js'
import { see, type AnyWish, type Offer, type PartnerMemory, type Saved } from './client_oracle.js'

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
export const rememberedIn = (memory: Memory): object => ({
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
  readonly recalled: number
}

export interface InvariantChecker {
  /** Output of the processor was on disk before. */
  checkLeft(instructions: readonly RailInstruction[], events: readonly StoredEvent[]): Promise<void>
  /** Every acknowledged request is on disk exactly once. */
  checkKnown(memory: PartnerMemory): Promise<void>
  rows(): Promise<readonly Row[]>
  /** Facts that other processes received are on disk. */
  checkMarks(
    books: ProgressQueries,
    highWater: Progress,
    rail: FaultyRail,
    bus: FaultyBus,
  ): Promise<void>
  /**
   * The auditor, over the processor's books and, at the end, the bank's. Before, a lie may have
   * come whose truth is still on its way.
   */
  audit(rail: FaultyRail, isEnd: boolean): Promise<void>
  /** Ids that need an operator's review. */
  discrepancies(): Promise<ReadonlySet<string>>
  /** When the next timer is due. */
  nextDueAt(): Promise<number | null>
  /** Ids of all events, in order. */
  events(): Promise<readonly string[]>
  close(): Promise<void>
}

const ROWS = `
  SELECT id, state, CAST(context ->> 'amountCents' AS TEXT) AS mark,
    context ->> 'handedOverAt' AS submittedAt, context ->> 'recall' IS NOT NULL AS recalled
    FROM intents
  UNION ALL
  SELECT id, state, context ->> 'description', context ->> 'handedOverAt', 0 FROM payouts`

/** A beneficiary's status, or an FX quote's conversion. */
interface CommitOutcome {
  readonly id: string
  readonly commitOutcome: string
}

const BENEFICIARIES = 'SELECT id, status AS commitOutcome FROM beneficiaries'
const CONVERTED =
  'SELECT id, conversion AS commitOutcome FROM fx_quotes WHERE conversion IS NOT NULL'

const NEXT_DUE = `SELECT min(at) AS at FROM (
  SELECT min(due_at) AS at FROM intents UNION ALL SELECT min(due_at) FROM payouts)`

export async function openInvariantChecker(
  folder: string,
  clock: Clock,
): Promise<InvariantChecker> {
  const disk = await openDatabase(join(folder, FILES.processorDatabase), { readOnly: true })
  const rows = (): Promise<Row[]> => disk.all<Row>(`${ROWS} ORDER BY id`)
  const events = async (): Promise<string[]> =>
    (await disk.all<{ id: string }>('SELECT id FROM events ORDER BY position')).map(({ id }) => id)

  return {
    checkLeft: async (instructions, told) => {
      if (instructions.length > 0) {
        const byId = new Map((await rows()).map((row) => [row.id, row]))
        for (const instruction of instructions) checkInstruction(instruction, byId)
      }
      if (told.length === 0) return
      const known = new Set(await events())
      for (const { id } of told)
        assert.ok(known.has(id), 'an event is on disk before it is published')
    },
    checkKnown: async ({ intents, payouts, saved, offers }) => {
      const byMark = new Map<string, Row[]>()
      for (const row of await rows()) byMark.set(row.mark, [...(byMark.get(row.mark) ?? []), row])
      for (const wish of [...intents, ...payouts]) checkWish(wish, byMark.get(wish.mark) ?? [])
      checkSaved(saved, await disk.all<CommitOutcome>(BENEFICIARIES))
      checkTaken(offers, await disk.all<CommitOutcome>(CONVERTED))
    },
    rows,
    checkMarks: async (books, highWater, rail, bus) => {
      const marks = createMarks({ ...books, progress: () => onDisk })
      const onDisk = await readProgress(disk)
      await marks.judge({ kind: 'high_water', source: 'file', progress: highWater })
      for (const id of bus.pool.keys()) await marks.judge({ kind: 'event', source: id, id })
      for (const id of rail.entries.keys()) {
        await marks.judge({ kind: 'instruction', source: id, id })
      }
      assert.deepEqual(marks.behind(), [])
    },
    audit: async (rail, isEnd) => {
      await writeRailBooks(folder, rail)
      const books = await openBooks(folder, clock)
      const options = {
        live: !isEnd && rail.liedAbout.size > 0,
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
    events,
    close: () => disk.close(),
  }
}

function checkInstruction(instruction: RailInstruction, rows: ReadonlyMap<string, Row>): void {
  if (instruction.kind === 'instruct') {
    const submittedAt = rows.get(instruction.instruction.id)?.submittedAt
    assert.ok(typeof submittedAt === 'number', 'a submission is on disk before it leaves')
  } else if (instruction.kind === 'recall') {
    assert.equal(rows.get(instruction.id)?.recalled, 1, 'a recall is on disk before it leaves')
  }
}

function checkWish(wish: AnyWish, rows: readonly Row[]): void {
  const [row] = rows
  const name = wish.id ?? wish.mark
  if (wish.creation.answer !== null)
    assert.equal(row?.id, wish.id, `${name} was answered and is there`)
  assert.ok(rows.length <= (wish.key === null ? wish.asked : 1), `${name} is there once`)
  if (row !== undefined && wish.creation.answer !== null) see(wish, row.state)
}

function checkSaved(saved: readonly Saved[], rows: readonly CommitOutcome[]): void {
  const fates = new Map(rows.map(({ id, commitOutcome }) => [id, commitOutcome]))
  for (const { id, disabled } of saved) {
    const commitOutcome = fates.get(id)
    assert.ok(
      disabled ? commitOutcome === 'disabled' : commitOutcome !== undefined,
      `${id} is ${commitOutcome}`,
    )
  }
}

/** The audit checks that each of these has one posting. */
function checkTaken(offers: readonly Offer[], rows: readonly CommitOutcome[]): void {
  const fates = new Map(rows.map(({ id, commitOutcome }) => [id, commitOutcome]))
  for (const { id, conversion } of offers) {
    if (conversion.answer === null) continue
    const { id: told } = JSON.parse(conversion.answer) as { id: string }
    assert.equal(fates.get(id), told, `${id} was taken once`)
  }
}

async function writeRailBooks(folder: string, { entries, discrepancies }: FaultyRail) {
  const journal = await openJournal(join(folder, FILES.railDatabase))
  await journal.write({ entries: [...entries.values()], acknowledged: [], discrepancies })
  await journal.close()
}

/** At the end: every event arrived, and no other. */
export async function checkDelivered(checker: InvariantChecker, bus: FaultyBus): Promise<void> {
  const told = [...bus.pool.keys()].sort()
  assert.deepEqual(told, [...(await checker.events())].sort(), 'every event reached the pool')
}
