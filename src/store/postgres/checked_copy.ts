/**
 * Copies the books of a SQLite file to PostgreSQL, reads them back and compares.
 *
 * - The file is locked as its processor locks it, and gets the schema of this version first.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDatabase } from '../database.js'
import { PROCESSOR_SCHEMA } from '../store.js'
import { tableDigests } from '../table_digests.js'
import { exportBooks, importBooks } from './copy.js'

export interface CheckedTable {
  readonly table: string
  readonly rows: number
  readonly sha256: string
  /** The copy has as many rows and the same digest. */
  readonly equal: boolean
}

/** @throws Error when the file is in use, or the schema has books */
export async function copyAndCompare(
  file: string,
  url: string,
  shard: string,
): Promise<readonly CheckedTable[]> {
  const source = await openDatabase(file, { migrations: PROCESSOR_SCHEMA, sole: true })
  const temporary = mkdtempSync(join(dirname(file), 'store_copy_'))
  try {
    await importBooks(file, url, shard)
    const readBack = join(temporary, 'books.db')
    await exportBooks(url, shard, readBack)
    const copies = new Map((await tableDigests(readBack)).map((each) => [each.table, each]))
    return (await tableDigests(file)).map((each) => {
      const copy = copies.get(each.table)
      return { ...each, equal: copy?.rows === each.rows && copy.sha256 === each.sha256 }
    })
  } finally {
    rmSync(temporary, { recursive: true, force: true })
    await source.close()
  }
}
