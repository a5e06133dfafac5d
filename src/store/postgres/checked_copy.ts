/**
 * Copies SQLite files to schemas of PostgreSQL, reads them back and compares.
 *
 * - Each file is locked as its process locks it, and gets the schema of this version first.
 * - A receiver's reply can contain NUL, which PostgreSQL cannot store: the copy has a replacement
 *   character in its place, as the pool writes it there. Books have none.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { openDatabase } from '../sqlite/database.js'
import type { Database } from '../database.js'
import { tableDigests } from '../sqlite/table_digests.js'
import { exportSchemas, importSchemas, migrationsOf, type SchemaFile } from './copy.js'

export interface CheckedTable {
  /** Where the copy is. */
  readonly schema: string
  readonly table: string
  readonly rows: number
  readonly sha256: string
  /** The copy has as many rows and the same digest. */
  readonly equal: boolean
}

const ESCAPED_NUL = '\\u0000'
const ESCAPE = /\\(?:u0000|.)/g

/** @param row JSON text, in which NUL is always escaped */
const storable = (row: string, { holds }: SchemaFile): string =>
  holds === 'pool' && row.includes(ESCAPED_NUL)
    ? row.replace(ESCAPE, (escape) => (escape === ESCAPED_NUL ? '\ufffd' : escape))
    : row

/** Where the copies go: the books, and the pools, which can have a role of their own. */
export interface CopyTargets {
  readonly url: string
  readonly poolUrl: string
}

/**
 * With one URL all schemas are copied in one transaction, else the pools in one before the books.
 *
 * @throws Error when a file is in use, or a schema is not empty: then nothing of its transaction is
 *   copied
 */
export async function copyAndCompare(
  files: readonly SchemaFile[],
  { url, poolUrl }: CopyTargets,
): Promise<readonly CheckedTable[]> {
  const locked: Database[] = []
  const temporary = mkdtempSync(join(dirname(files[0]?.file ?? ''), 'store_copy_'))
  try {
    for (const { file, holds } of files) {
      locked.push(await openDatabase(file, { migrations: migrationsOf(holds), sole: true }))
    }
    const parts = url === poolUrl ? [files] : [ofKind(files, 'pool'), ofKind(files, 'books')]
    const urlOf = ([first]: readonly SchemaFile[]): string =>
      first?.holds === 'pool' ? poolUrl : url
    for (const part of parts) {
      if (part.length > 0) await importSchemas(urlOf(part), part, storable)
    }
    const copies = files.map((each) => ({ ...each, file: join(temporary, basename(each.file)) }))
    await exportSchemas(poolUrl, ofKind(copies, 'pool'))
    await exportSchemas(url, ofKind(copies, 'books'))
    return (await Promise.all(files.map((each, index) => compare(each, copies[index]!)))).flat()
  } finally {
    rmSync(temporary, { recursive: true, force: true })
    for (const each of locked) await each.close()
  }
}

const ofKind = (files: readonly SchemaFile[], kind: SchemaFile['holds']): readonly SchemaFile[] =>
  files.filter(({ holds }) => holds === kind)

async function compare(source: SchemaFile, copy: SchemaFile): Promise<readonly CheckedTable[]> {
  const toText = (row: string): string => storable(row, source)
  const copies = new Map((await tableDigests(copy.file, toText)).map((each) => [each.table, each]))
  return (await tableDigests(source.file, toText)).map((each) => {
    const found = copies.get(each.table)
    const equal = found?.rows === each.rows && found.sha256 === each.sha256
    return { schema: source.schema, ...each, equal }
  })
}
