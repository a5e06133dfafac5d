/**
 * Writes CSV records for spreadsheets (RFC 4180, CRLF).
 *
 * - A cell that a spreadsheet would evaluate as a formula is prefixed with an apostrophe, and so is
 *   one that looks like the result: `withoutPrefix` restores what was written.
 */
import { stringify } from 'csv-stringify/sync'

const FORMULA = /^'*[=+\-@\t\r]/

export const withoutPrefix = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell

/** One record with its line break. */
export const csvLine = (cells: readonly string[]): string =>
  stringify([cells.map((text) => (FORMULA.test(text) ? `'${text}` : text))], {
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
  })
