/**
 * A rail's statement: a CSV file, one movement a line.
 *
 * Owns: the columns, reading the file. Does not own: what is made of its lines (reconcile).
 *
 * S1. The first line names the columns, in any order; columns of other names are left alone.
 * S2. A line that can not be understood is handed on with its number and with what is wrong, never
 *     left out.
 * S3. A piece of the file is in memory at a time, however long the file or one of its lines is.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { csvCells } from '../base/csv.js'
import { instant } from '../base/clock.js'
import { parsePositiveInt64 } from '../money/money.js'
import { MOVEMENTS, type StatementLine } from './movement.js'

export const STATEMENT_COLUMNS = [
  'time',
  'transaction_id',
  'instruction_id',
  'movement',
  'currency',
  'amount',
] as const
type Column = (typeof STATEMENT_COLUMNS)[number]

export interface BadLine {
  readonly line: number
  readonly fault: string
}

export type Read = { readonly good: StatementLine } | { readonly bad: BadLine }

/** The file is no statement at all. */
export class NoStatement extends Error {
  override name = 'NoStatement'
}

export interface StatementFile {
  readonly file: string
  /** In their order. Read once. */
  lines(): AsyncGenerator<Read>
  /** SHA-256 of the file's bytes, once its lines are read. */
  digest(): string
}

export function openStatement(file: string): StatementFile {
  const hash = createHash('sha256')
  return {
    file,
    lines: async function* () {
      const texts = linesOf(createReadStream(file), (bytes) => hash.update(bytes))
      const first = await texts.next()
      const places = placesIn(first.done === true ? '' : (first.value.text ?? ''))
      for await (const { line, text } of texts) {
        if (text !== '')
          yield text === null ? bad(line, 'it is too long') : read(line, text, places)
      }
    },
    digest: () => hash.copy().digest('hex'),
  }
}

const bad = (line: number, fault: string): Read => ({ bad: { line, fault } })

/** Where each column is, by the first line. */
function placesIn(header: string): Readonly<Record<Column, number>> {
  const names = (csvCells(header) ?? []).map((name) => name.trim().toLowerCase())
  const places = STATEMENT_COLUMNS.map((column) => [column, names.indexOf(column)] as const)
  const missing = places.filter(([, place]) => place === -1).map(([column]) => column)
  if (missing.length > 0) {
    throw new NoStatement(`its first line does not name the columns ${missing.join(', ')}`)
  }
  return Object.fromEntries(places) as Record<Column, number>
}

const ID = /^[\x21-\x7e]{1,128}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

function read(line: number, text: string, places: Readonly<Record<Column, number>>): Read {
  const cells = csvCells(text)
  if (cells === null) return bad(line, 'its quotes do not match')
  const cell = (column: Column): string => (cells[places[column]] ?? '').trim()
  const at = TIME.test(cell('time')) ? Date.parse(cell('time')) : Number.NaN
  const movement = MOVEMENTS.find((known) => known === cell('movement'))
  const amount = parsePositiveInt64(cell('amount'))
  if (Number.isNaN(at)) return bad(line, 'its time is none')
  if (!ID.test(cell('instruction_id'))) return bad(line, 'it names no instruction')
  if (movement === undefined) return bad(line, `its movement is not ${MOVEMENTS.join(' or ')}`)
  if (!/^[A-Z]{3}$/.test(cell('currency'))) return bad(line, 'its currency is none')
  if (amount === undefined) return bad(line, 'its amount is no whole number of minor units')
  return {
    good: {
      line,
      instruction: cell('instruction_id'),
      movement,
      currency: cell('currency'),
      amount,
      transactionId: cell('transaction_id'),
      at: instant(at),
    },
  }
}

interface Line {
  readonly line: number
  /** Null: it is too long. */
  readonly text: string | null
}

/** Many times the longest line of sense. */
const LINE_MAX = 64 * 1024

/** Lines without their ends, numbered from 1; a byte order mark is no part of the first. */
async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<Line> {
  const decoder = new TextDecoder()
  let line = 0
  let rest = ''
  let isTooLong = false
  const next = (text: string): Line => {
    const whole = isTooLong ? null : text.replace(/\r$/, '')
    isTooLong = false
    line += 1
    return { line, text: whole }
  }
  for await (const chunk of chunks) {
    onBytes(chunk)
    const texts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = texts.pop() ?? ''
    for (const text of texts) yield next(text)
    if (rest.length > LINE_MAX) {
      isTooLong = true
      rest = ''
    }
  }
  if (rest !== '' || isTooLong) yield next(rest)
}
