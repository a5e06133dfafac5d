/**
 * A rail's statement: a CSV file with one movement per record, or one instruction that the rail has
 * accepted and not executed.
 *
 * Owns: the columns, reading the file (csv-parse). Does not own: the use of its records
 * (reconcile).
 *
 * - The first record names the columns in any order; unknown columns are ignored. Cells are
 *   separated by commas or, if the header is, by semicolons.
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
type Columns = Readonly<Record<Column | (typeof DETAIL_COLUMNS)[number], number>>

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
        else if (columns === undefined) columns = columnsIn(record.cells)
        else yield read(record, columns)
        if (columns !== undefined) for (const bad of early.splice(0)) yield { bad }
      }
      if (columns === undefined) columnsIn([])
    },
    digest: () => hash.copy().digest('hex'),
  }
}

const bad = (line: number, fault: string): Read => ({ bad: { line, fault } })

/** The index of each column, from the first record; -1 for an absent optional column. */
function columnsIn(header: readonly string[]): Columns {
  const names = header.map((name) => name.trim().toLowerCase())
  const indexOf = (column: string) => [column, names.indexOf(column)] as const
  const columns = STATEMENT_COLUMNS.map(indexOf)
  const missing = columns.filter(([, index]) => index === -1).map(([column]) => column)
  if (missing.length > 0) {
    throw new NoStatement(`its first line does not name the columns ${missing.join(', ')}`)
  }
  return Object.fromEntries([...columns, ...DETAIL_COLUMNS.map(indexOf)]) as Columns
}

const ID = /^[\x21-\x7e]{1,128}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

function read({ line, cells }: CsvRecord, columns: Columns): Read {
  const cell = (column: keyof Columns): string => (cells[columns[column]] ?? '').trim()
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
    ...(DETAIL_COLUMNS.every((column) => columns[column] === -1)
      ? {}
      : { details: detailsIn(cell) }),
  }
  if (movement === ACCEPTED) return { accepted: { ...stated, movement } }
  return { good: { ...stated, movement, transactionId: cell('transaction_id') } }
}

const detailsIn = (cell: (column: keyof Columns) => string): StatementDetails => ({
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
}

/** Bytes, many times a plausible record. */
const RECORD_MAX = 64 * 1024

const FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'its quotes do not match; the remaining lines are not read',
  CSV_MAX_RECORD_SIZE: 'it is too long; the remaining lines are not read',
  CSV_INVALID_CLOSING_QUOTE: 'its quotes do not match',
  INVALID_OPENING_QUOTE: 'its quotes do not match',
}

/** The faults of a chunk come before its good records. */
async function* recordsOf(
  file: string,
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<CsvRecord | BadLine> {
  const faults: BadLine[] = []
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(file),
    info: true,
    max_record_size: RECORD_MAX,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error !== undefined) faults.push(faultOf(error))
    },
  })
  const bytes = createReadStream(file)
  bytes.on('data', (chunk) => onBytes(chunk as Buffer))
  bytes.on('error', (error) => parser.destroy(error))
  bytes.pipe(parser)
  type Parsed = { readonly info: Info; readonly record: readonly string[] }
  for await (const { info, record } of parser as AsyncIterable<Parsed>) {
    yield* faults.splice(0)
    yield { line: info.lines, cells: record }
  }
  yield* faults
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
    return header.split(';').length > header.split(',').length ? ';' : ','
  } finally {
    closeSync(descriptor)
  }
}
