/**
 * The kinds of columns by their names, in every table: moments and currencies.
 *
 * - A new table is checked without a line here.
 */
import type { Books } from '../books.js'
import type { Check, Violation } from '../check.js'

/** Names of columns, as patterns of GLOB, and what their values satisfy. */
const KINDS = [
  {
    names: ['at', '*_at', '*_since'],
    // The last moment of 2099, UTC.
    holds: (column: string) => `${column} BETWEEN 0 AND 4102444799999`,
    expected: 'a moment before the year 2100',
  },
  {
    names: ['currency', '*_currency'],
    holds: (column: string) => `${column} GLOB '[A-Z][A-Z][A-Z]'`,
    expected: 'a currency',
  },
] as const

interface Column {
  readonly table: string
  readonly column: string
  /** The first column, which names the row. */
  readonly id: string
}

/** @param names patterns of GLOB */
const columnsOf = (names: readonly string[]): string => `
  SELECT t.name AS "table", c.name AS "column", (SELECT name FROM pragma_table_info(t.name)
      WHERE cid = 0) AS id
    FROM main.sqlite_schema t, pragma_table_info(t.name) c
    WHERE t.type = 'table' AND (${names.map((name) => `c.name GLOB '${name}'`).join(' OR ')})
    ORDER BY t.name, c.cid`

export const columnsHoldTheirKind: Check = {
  name: 'columns_hold_their_kind',
  sentence: 'A column of a moment or a currency holds one, in every table.',
  reads: [],
  run: async (books: Books) => {
    const seen = new Set<string>()
    for (const { names, holds, expected } of KINDS) {
      for (const { table, column, id } of await books.all<Column>(columnsOf(names))) {
        seen.add(table)
        const [broken] = await books.all<Violation>(
          `SELECT ${id} AS entity, '${table}.${column} ' || ${column} AS found,
                  '${expected}' AS expected
             FROM main.${table} WHERE NOT (${holds(column)}) LIMIT 1`,
        )
        if (broken !== undefined) return { rows: await rowsIn(books, seen), broken }
      }
    }
    return { rows: await rowsIn(books, seen), broken: null }
  },
}

async function rowsIn(books: Books, tables: ReadonlySet<string>): Promise<number> {
  let rows = 0
  for (const table of tables) rows += await books.count(`main.${table}`)
  return rows
}
