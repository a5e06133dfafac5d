/**
 * New, empty books of SQLite: a copy of a file to which a process of this build has applied the
 * migrations, with an id of its own. To apply them takes longer than most tests.
 */
import { createHash, randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { PROCESSOR_SCHEMA } from '../../src/store/sqlite/store.js'

const FOLDER = join(projectRoot(), '.build/new_books')

/** A copy has no other state that a migration makes at random. It is never read after a crash. */
const NEW_ID = `PRAGMA synchronous = OFF;
  UPDATE meta SET value = lower(hex(randomblob(16))) WHERE name = 'books_id';`

let migrated: Promise<string> | undefined

/** Nothing happens where a file is. */
export async function putNewBooks(file: string): Promise<void> {
  if (existsSync(file) || existsSync(`${file}-wal`)) return
  migrated ??= migratedFile()
  copyFileSync(await migrated, file)
  const books = await openDatabase(file)
  await books.exec(NEW_ID)
  await books.close()
}

/** Named by its migrations, so those of another revision have another one. */
async function migratedFile(): Promise<string> {
  const digest = createHash('sha256')
  for (const name of readdirSync(PROCESSOR_SCHEMA).sort())
    digest.update(readFileSync(join(PROCESSOR_SCHEMA, name)))
  const file = join(FOLDER, `${digest.digest('hex')}.db`)
  if (existsSync(file)) return file
  mkdirSync(FOLDER, { recursive: true })
  const made = join(FOLDER, `${randomUUID()}.db`)
  const database = await openDatabase(made, { migrations: PROCESSOR_SCHEMA })
  await database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  await database.close()
  renameSync(made, file)
  return file
}
