/**
 * Tables of a SQLite file, page by page, as JSON texts: to copy them, and to compare copies.
 *
 * - Whole numbers and blobs are texts in it, so that nothing is rounded.
 */
import type { Bindable, Database } from '../database.js'

export interface Column {
  readonly name: string
  readonly type: 'TEXT' | 'INTEGER' | 'BLOB'
  /** The ordinal in the primary key, from 1. 0 means that the column is not in it. */
  readonly pk: number
}

export interface StoredTable {
  readonly table: string
  readonly columns: readonly Column[]
}

export const PAGE_ROWS = 10_000

/** In an order in which every referenced table comes first: that of their creation. */
export async function tablesOf(database: Database): Promise<readonly StoredTable[]> {
  const tables = await database.all<{ name: string }>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
     ORDER BY rowid`,
  )
  return Promise.all(
    tables.map(async ({ name }) => ({
      table: name,
      columns: await database.all<Column>(
        `SELECT name, type, pk FROM pragma_table_info('${name}')`,
      ),
    })),
  )
}

/** Each row as a JSON array of the columns, in the order of the primary key. */
export async function* pagesOf(
  source: Database,
  { table, columns }: StoredTable,
  kept: readonly Column[] = columns,
): AsyncGenerator<readonly string[]> {
  const cells = kept.map(({ name, type }) => {
    if (type === 'INTEGER') return `CAST(${name} AS TEXT)`
    return type === 'BLOB' ? `hex(${name})` : name
  })
  const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
  const names = key.map(({ name }) => name).join(', ')
  const marks = key.map(() => '?').join(', ')
  const select = `SELECT json_array(${cells.join(', ')}) AS row,
    ${key.map(({ name }, index) => `${name} AS key_${index}`).join(', ')} FROM ${table}`
  let last: readonly Bindable[] = []
  for (;;) {
    const after = last.length === 0 ? '' : `WHERE (${names}) > (${marks})`
    const page = await source.all<Readonly<Record<string, Bindable>> & { readonly row: string }>(
      `${select} ${after} ORDER BY ${names} LIMIT ?`,
      [...last, PAGE_ROWS],
    )
    const end = page.at(-1)
    if (end === undefined) return
    last = key.map((_, index) => end[`key_${index}`]!)
    yield page.map(({ row }) => row)
  }
}
