/**
 * A page of rows as one text, and back.
 *
 * Owns: the SQL around a list's statement, and reading what it gives. Does not own: lists (lists).
 *
 * - The driver makes an object of every row and a name of every value, on the thread that also
 *   decides. One text costs it one value, however many rows it holds.
 * - What is stored as JSON stands in the text as it is, and is parsed once, with the page.
 * - An aggregate takes the rows of its only source as they come, so they keep the list's order.
 */
import type { Statement } from './database.js'

/** By name, as the list's statement gives them. Text that is JSON is `json`. */
export type Columns = Readonly<Record<string, 'text' | 'integer' | 'int64' | 'json' | 'blob'>>

/** @param isChecked text that is no JSON becomes null, which costs parsing all of it */
export function asText({ sql, values }: Statement, columns: Columns, isChecked = false): Statement {
  const cells = Object.entries(columns).map(([name, type]) => cellOf(name, type, isChecked))
  return {
    sql: `SELECT '[' || group_concat('[' || ${cells.join(" || ',' || ")} || ']') || ']' AS page
      FROM (${sql})`,
    values,
  }
}

function cellOf(name: string, type: Columns[string], isChecked: boolean): string {
  if (type === 'json') return isChecked ? `iif(json_valid(${name}), ${name}, 'null')` : name
  return type === 'blob' ? `json_quote(hex(${name}))` : `json_quote(${name})`
}

/** What SQLite gives of no rows is NULL. */
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
