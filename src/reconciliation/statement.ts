/**
 * A rail's statement: a CSV file with one movement per record, or one instruction that the rail has
 * accepted and not executed.
 *
 * Owns: the columns, reading the file (csv-parse). Does not own: the use of its records
 * (reconcile).
 *
 * - The first record names the columns in any order; unknown columns are ignored. Cells are
 *   separated by commas or, if the header is, by semicolons.
 * - A record with more cells than columns is bad: a comma within an amount moves the cells.
 * - The last record is bad without a line break: the file may be cut, also within a number.
 * - `environment`, `purpose`, `destination_account`, `reference` and `shard` are optional columns.
 * - A record that cannot be parsed is reported with its line number and the reason, never dropped.
 *   An unclosed quote or an oversized record ends the reading, and the report says so.
 * - One chunk of the file is in memory at a time.
 */
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { parse, type CsvError, type Info } from 'csv-parse'
import { instant } from '../base/clock.js'
import { withoutPrefix } from '../base/csv.js'
import { parseDateTime } from '../base/date_time.js'
import { ACCEPTED, LINE_KINDS } from '../base/movements.js'
import { parsePositiveInt64 } from '../money/money.js'
import type { AcceptedLine, StatementDetails, StatementLine } from './movement.js'

export const STATEMENT_COLUMNS = [
  'time',
  'transaction_id',
  'instruction_id',
  'movement',
  'currency',
  'amount',
] as const
type Column = (typeof STATEMENT_COLUMNS)[number]
const DETAIL_COLUMNS = [
  ...(['environment', 'purpose', 'destination_account', 'reference', 'shard'] as const),
] as const
interface Columns {
  /** The index of each column; -1 for an absent optional one. */
  readonly indexes: Readonly<Record<Column | (typeof DETAIL_COLUMNS)[number], number>>
  readonly count: number
}

export interface BadLine {
  readonly line: number
  readonly fault: string
}

export type Read =
  { readonly good: StatementLine } | { readonly accepted: AcceptedLine } | { readonly bad: BadLine }

/** The file is not a statement. */
export class NoStatement extends Error {
  override name = 'NoStatement'
}

export interface StatementFile {
  readonly file: string
  /** In file order. Can be read once. */
  lines(): AsyncGenerator<Read>
  /** SHA-256 of the file's bytes, in hex; valid once all lines are read. */
  digest(): string
}

export function openStatement(file: string): StatementFile {
  const hash = createHash('sha256')
  return {
    file,
    lines: async function* () {
      let columns: Columns | undefined
      const early: BadLine[] = []
      for await (const record of recordsOf(file, (bytes) => hash.update(bytes))) {
        if ('fault' in record) early.push(record)
        else if (columns !== undefined) yield read(record, columns)
        else {
          columns = columnsIn(record.cells)
          if (record.isOpenEnded) early.push({ line: record.line, fault: OPEN_ENDED })
        }
        if (columns !== undefined) for (const bad of early.splice(0)) yield { bad }
      }
      if (columns === undefined) columnsIn([])
    },
    digest: () => hash.copy().digest('hex'),
  }
}

const bad = (line: number, fault: string): Read => ({ bad: { line, fault } })

const OPEN_ENDED =
  'the file ends in it without a line break and may be cut; if it is whole, add the line break'

/** @param header the first record */
function columnsIn(header: readonly string[]): Columns {
  const names = header.map((name) => name.trim().toLowerCase())
  const indexOf = (column: string) => [column, names.indexOf(column)] as const
  const columns = STATEMENT_COLUMNS.map(indexOf)
  const missing = columns.filter(([, index]) => index === -1).map(([column]) => column)
  if (missing.length > 0) {
    throw new NoStatement(`its first line does not name the columns ${missing.join(', ')}`)
  }
  const all = [...columns, ...DETAIL_COLUMNS.map(indexOf)]
  const repeated = all.find(([column, index]) => names.lastIndexOf(column) !== index)
  if (repeated !== undefined) {
    throw new NoStatement(`its first line names the column ${repeated[0]} twice`)
  }
  return { indexes: Object.fromEntries(all) as Columns['indexes'], count: header.length }
}

const ID = /^[\x21-\x7e]{1,128}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

function read({ line, cells, isOpenEnded }: CsvRecord, { indexes, count }: Columns): Read {
  if (isOpenEnded) return bad(line, OPEN_ENDED)
  if (cells.slice(count).some((text) => text.trim() !== '')) {
    return bad(line, 'it has more cells than the first line has columns')
  }
  const cell = (column: keyof Columns['indexes']): string => (cells[indexes[column]] ?? '').trim()
  const at = TIME.test(cell('time')) ? parseDateTime(cell('time')) : undefined
  const movement = LINE_KINDS.find((known) => known === cell('movement'))
  const amount = parsePositiveInt64(cell('amount'))
  if (at === undefined) return bad(line, 'its time is not RFC 3339')
  if (!ID.test(cell('instruction_id'))) return bad(line, 'it has no instruction id')
  if (movement === undefined) return bad(line, `its movement is not ${LINE_KINDS.join(' or ')}`)
  if (!/^[A-Z]{3}$/.test(cell('currency'))) return bad(line, 'its currency is not three letters')
  if (amount === undefined) return bad(line, 'its amount is not a positive number of minor units')
  const stated = {
    line,
    instruction: cell('instruction_id'),
    currency: cell('currency'),
    amount,
    at: instant(at.ms),
    ...(DETAIL_COLUMNS.every((column) => indexes[column] === -1)
      ? {}
      : { details: detailsIn(cell) }),
  }
  if (movement === ACCEPTED) return { accepted: { ...stated, movement } }
  return { good: { ...stated, movement, transactionId: cell('transaction_id') } }
}

const detailsIn = (cell: (column: keyof Columns['indexes']) => string): StatementDetails => ({
  environment: cell('environment'),
  purpose: cell('purpose'),
  destinationAccount: cell('destination_account'),
  reference: withoutPrefix(cell('reference')),
  shard: cell('shard'),
})

interface CsvRecord {
  /** The line on which it ends, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** The last record of a file that does not end with a line break. */
  readonly isOpenEnded: boolean
}

/** Bytes, many times a plausible record. */
const RECORD_MAX = 64 * 1024

const FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'its quotes do not match; the remaining lines are not read',
  CSV_MAX_RECORD_SIZE: 'it is too long; the remaining lines are not read',
  CSV_INVALID_CLOSING_QUOTE: 'its quotes do not match',
  INVALID_OPENING_QUOTE: 'its quotes do not match',
}

/** Line feed and carriage return. */
const LINE_BREAKS: readonly number[] = [0x0a, 0x0d]

/** The faults of a chunk come before its good records. */
async function* recordsOf(
  file: string,
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<CsvRecord | BadLine> {
  const faults: BadLine[] = []
  let faultLine = 0
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(file),
    info: true,
    max_record_size: RECORD_MAX,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error === undefined) return
      const fault = faultOf(error)
      faultLine = Math.max(faultLine, fault.line)
      faults.push(fault)
    },
  })
  const bytes = createReadStream(file)
  let lastByte: number | undefined
  bytes.on('data', (chunk) => {
    lastByte = (chunk as Buffer).at(-1)
    onBytes(chunk as Buffer)
  })
  bytes.on('error', (error) => parser.destroy(error))
  bytes.pipe(parser)
  type Parsed = { readonly info: Info; readonly record: readonly string[] }
  let last: Omit<CsvRecord, 'isOpenEnded'> | undefined
  for await (const { info, record } of parser as AsyncIterable<Parsed>) {
    if (last !== undefined) yield { ...last, isOpenEnded: false }
    yield* faults.splice(0)
    last = { line: info.lines, cells: record }
  }
  yield* faults
  if (last === undefined) return
  const isLast = !(faultLine > last.line)
  yield { ...last, isOpenEnded: isLast && !LINE_BREAKS.includes(lastByte ?? 0) }
}

const faultOf = (error: CsvError): BadLine => ({
  line: Number(error['lines']),
  fault: FAULTS[error.code] ?? error.message,
})

const HEADER_PEEK_BYTES = 4_096

/** Spreadsheets in some locales write semicolons: the header decides. */
function delimiterOf(file: string): ',' | ';' {
  const start = Buffer.alloc(HEADER_PEEK_BYTES)
  const descriptor = openSync(file, 'r')
  try {
    const [header = ''] = start.toString('utf8', 0, readSync(descriptor, start)).split('\n', 1)
    // UTF-16 and the workbooks of spreadsheets have zeros.
    if (header.includes('\0')) throw new NoStatement('it is no text in UTF-8: save it as CSV')
    return header.split(';').length > header.split(',').length ? ';' : ','
  } finally {
    closeSync(descriptor)
  }
}
