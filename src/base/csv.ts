/**
 * Writes CSV records for spreadsheets (RFC 4180, CRLF).
 *
 * - A cell that a spreadsheet would evaluate as a formula is prefixed with an apostrophe, and so is
 *   one that looks like the result: `withoutPrefix` restores what was written. In East Asian
 *   locales the full-width forms of the signs begin a formula too.
 */
import { stringify } from 'csv-stringify/sync'

const FORMULA = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/

export const withoutPrefix = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell

/** One record with its line break. */
export const csvLine = (cells: readonly string[]): string =>
  stringify([cells.map((text) => (FORMULA.test(text) ? `'${text}` : text))], {
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
  })
