/**
 * CSV records as spreadsheets read them (RFC 4180, CRLF).
 *
 * - A text that a spreadsheet would take for a formula is written with an apostrophe before it.
 */
import { stringify } from 'csv-stringify/sync'

const FORMULA = /^[=+\-@\t\r]/

/** One record, with the end of its line. */
export const csvLine = (cells: readonly string[]): string =>
  stringify([cells.map((text) => (FORMULA.test(text) ? `'${text}` : text))], {
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
  })
