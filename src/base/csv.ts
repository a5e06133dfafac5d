/**
 * Comma-separated values: one record a line, as RFC 4180 quotes them.
 *
 * Owns: writing a record, reading one. Does not own: what the columns mean.
 *
 * V1. A text that a spreadsheet would take for a formula is written with an apostrophe before it.
 * V2. A record is one line: a break inside quotes is read as a record that does not end.
 */

const FORMULA = /^[=+\-@\t\r]/
const SPECIAL = /[",\r\n]/

/** With the line's end. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\r\n`

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A quoted cell, or one without quotes, and what ends it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y

/** The cells of a line without its end; null when its quotes are wrong. */
export function csvCells(line: string): readonly string[] | null {
  if (!line.includes('"')) return line.split(',')
  const cells: string[] = []
  CELL.lastIndex = 0
  for (;;) {
    const found = CELL.exec(line)
    if (found === null) return null
    const [, quoted, plain = '', end] = found
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '') return cells
  }
}
