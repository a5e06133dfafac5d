/** Rows and digest of each table of a SQLite file, to compare two copies of it. */
import { createHash } from 'node:crypto'
import { openDatabase } from './database.js'
import { pagesOf, tablesOf } from './table_pages.js'

export interface TableDigest {
  readonly table: string
  readonly rows: number
  /** SHA-256 of every column of every row, in the order of the primary key. */
  readonly sha256: string
}

/** @param toText what is hashed of a row's JSON text */
export async function tableDigests(
  file: string,
  toText: (row: string) => string,
): Promise<readonly TableDigest[]> {
  const database = await openDatabase(file, { readOnly: true })
  try {
    const digests: TableDigest[] = []
    for (const each of await tablesOf(database)) {
      const columns = each.columns.toSorted((one, other) => (one.name < other.name ? -1 : 1))
      const hash = createHash('sha256')
      let rows = 0
      for await (const page of pagesOf(database, each, columns)) {
        for (const row of page) hash.update(`${toText(row)}\n`)
        rows += page.length
      }
      digests.push({ table: each.table, rows, sha256: hash.digest('hex') })
    }
    return digests.sort((one, other) => (one.table < other.table ? -1 : 1))
  } finally {
    await database.close()
  }
}
