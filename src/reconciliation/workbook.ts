/**
 * The workbook: statement lines and bookings in a temporary SQLite file, sorted by instruction.
 *
 * Does not own: the comparison (compare), the source of the rows (reconcile).
 *
 * - One page is in memory at a time, whatever the order and number of rows.
 * - The file holds nothing that could not be read again.
 */
import { rm } from 'node:fs/promises'
import { instant } from '../base/clock.js'
import type { MovementKind } from '../base/movements.js'
import { openDatabase } from '../store/sqlite/database.js'
import type { Database } from '../store/database.js'
import type { Sides } from './compare.js'
import type { BookedMovement, StatementLine } from './movement.js'

export interface Workbook {
  addStated(lines: readonly StatementLine[]): Promise<void>
  addBooked(bookings: readonly BookedMovement[]): Promise<void>
  /** Instruction by instruction, many at a time. */
  pages(): AsyncGenerator<ReadonlyMap<string, Sides>>
  close(): Promise<void>
}

/** `mark` is a line's transaction id, and 'undone' or '' for a booking. */
const TABLE = `
  PRAGMA synchronous = OFF;
  CREATE TABLE moved (
    instruction TEXT NOT NULL,
    is_stated INTEGER NOT NULL,
    number INTEGER NOT NULL,
    movement TEXT NOT NULL,
    currency TEXT NOT NULL,
    amount TEXT NOT NULL,
    at INTEGER NOT NULL,
    mark TEXT NOT NULL,
    PRIMARY KEY (instruction, is_stated, number)
  ) STRICT, WITHOUT ROWID;
`
const ADD = `INSERT OR IGNORE INTO moved
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    value ->> 7
  FROM json_each(?)`
const PAGE = `SELECT instruction, is_stated, number, movement, currency, amount, at, mark FROM moved
  WHERE (instruction, is_stated, number) > (?, ?, ?)
  ORDER BY instruction, is_stated, number LIMIT ?`
const PAGE_ROWS = 5_000

interface Row {
  readonly instruction: string
  readonly is_stated: 0 | 1
  readonly number: number
  readonly movement: MovementKind
  readonly currency: string
  readonly amount: string
  readonly at: number
  readonly mark: string
}

/** @param file must not exist; it is deleted when the workbook is closed */
export async function openWorkbook(file: string): Promise<Workbook> {
  const database = await openDatabase(file)
  await database.exec(TABLE)
  const add = async (rows: readonly (readonly (string | number)[])[]): Promise<void> => {
    await database.run(ADD, [JSON.stringify(rows)])
  }
  return {
    addStated: (lines) =>
      add(
        lines.map((line) => [line.instruction, 1, line.line, ...values(line), line.transactionId]),
      ),
    addBooked: (bookings) =>
      add(
        bookings.map((booking) => [
          ...[booking.instruction, 0, Number(booking.id), ...values(booking)],
          booking.undone ? 'undone' : '',
        ]),
      ),
    pages: () => pages(database),
    close: async () => {
      await database.close()
      await Promise.all(['', '-wal', '-shm'].map((end) => rm(file + end, { force: true })))
    },
  }
}

const values = ({ movement, currency, amount, at }: StatementLine | BookedMovement) =>
  [movement, currency, amount.toString(), at] as const

async function* pages(database: Database): AsyncGenerator<ReadonlyMap<string, Sides>> {
  let position: readonly (string | number)[] = ['', 0, 0]
  let partial: Row[] = []
  for (;;) {
    const found = await database.all<Row>(PAGE, [...position, PAGE_ROWS])
    const rows = [...partial, ...found]
    const last = rows.at(-1)
    const isEnd = found.length < PAGE_ROWS
    // The last instruction of a page may continue in the next one.
    partial = isEnd ? [] : rows.filter(({ instruction }) => instruction === last?.instruction)
    const whole = isEnd ? rows : rows.slice(0, rows.length - partial.length)
    if (whole.length > 0) yield byInstruction(whole)
    if (isEnd || last === undefined) return
    position = [last.instruction, last.is_stated, last.number]
  }
}

function byInstruction(rows: readonly Row[]): ReadonlyMap<string, Sides> {
  const found = new Map<string, { stated: StatementLine[]; booked: BookedMovement[] }>()
  for (const { instruction, is_stated, number, movement, currency, amount, at, mark } of rows) {
    const sides = found.get(instruction) ?? { stated: [], booked: [] }
    found.set(instruction, sides)
    const moved = { instruction, movement, currency, amount: BigInt(amount), at: instant(at) }
    if (is_stated === 1) sides.stated.push({ ...moved, line: number, transactionId: mark })
    else sides.booked.push({ ...moved, id: String(number), undone: mark === 'undone' })
  }
  return found
}
