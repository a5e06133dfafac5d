/**
 * Reads a page of rows as one JSON text.
 *
 * Owns: the SQL around a list's statement, parsing its result. Does not own: lists (lists).
 *
 * - The driver creates an object per row and a name per value on the main thread; a single text
 *   costs one value, whatever the number of rows.
 * - Stored JSON is embedded unchanged and parsed once, with the page.
 * - The aggregate receives the rows of its single source in order, so the list's order is kept.
 */
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'

/** The columns of the list's statement by name; text that holds JSON is `json`. */
export type Columns = Readonly<Record<string, 'text' | 'integer' | 'int64' | 'json' | 'blob'>>

/** @param isChecked invalid JSON becomes null, at the cost of parsing every text */
export function asText(statement: Statement, columns: Columns, isChecked = false): Statement {
  return {
    sql: (d) => {
      const cells = Object.entries(columns).map(([name, type]) => cellOf(d, name, type, isChecked))
      const row = `'[' || ${cells.join(" || ',' || ")} || ']'`
      return `SELECT '[' || ${d.joined(row, ',')} || ']' AS page
        FROM (${statement.sql(d)}) AS listed`
    },
    values: statement.values,
  }
}

function cellOf(d: Dialect, name: string, type: Columns[string], isChecked: boolean): string {
  if (type === 'json')
    return isChecked ? `CASE WHEN ${d.isJson(name)} THEN ${name} ELSE 'null' END` : name
  return type === 'blob' ? d.quotedHex(name) : d.quoted(name)
}

/** The text of an empty page is NULL. */
export const NO_ROWS = '[]'

/** @param R an object with exactly these columns; amounts are bigint */
export function rowsOf<R>(page: string, columns: Columns): R[] {
  const names = Object.keys(columns)
  const amounts = names.filter((name) => columns[name] === 'int64')
  const blobs = names.filter((name) => columns[name] === 'blob')
  return (JSON.parse(page) as unknown[][]).map((cells) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = cells[i]
    for (const name of amounts) row[name] = amountIn(row[name])
    for (const name of blobs) row[name] = Buffer.from(row[name] as string, 'hex')
    return row as R
  })
}

const amountIn = (cell: unknown): bigint | null => (cell === null ? null : BigInt(cell as string))
