/**
 * The archive: a SQLite file with ended payments that have left the books.
 *
 * Owns: the file, and the order in which payments move. Does not own: which ones may, and their
 * removal from the books (`Books`, the processor).
 *
 * - A payment is on the disk of the archive before it is removed from the books. After a crash it
 *   is in both: the next run writes it again and removes it. It is never in neither.
 * - An archive belongs to the books whose payments it has; `id` is random. The books name it before
 *   the file has any of their payments: a run with another file is refused.
 * - A payment is stored as the books had it, so that the audit reads both as one.
 * - At rest the archive is one file without a WAL: backups and audits can read it in a folder that
 *   they must not write, and a copy of the file is whole.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { digestOfPayment } from '../base/payment_digest.js'
import { requirePrivateFolder } from '../files/secret_file.js'
import type { Database } from '../store/database.js'
import { openDatabase } from '../store/sqlite/database.js'
import { withoutWal } from '../store/sqlite/database_copy.js'
import { BackupFault } from './manifest.js'

const FORMAT = '1'

/** No WITHOUT ROWID: a row of more than a thousand bytes would use a page of its own. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS intents (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, state TEXT NOT NULL, due_at INTEGER,
    confirmed_at INTEGER, context TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS intents_confirmed ON intents (confirmed_at)
    WHERE confirmed_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS payouts (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, state TEXT NOT NULL, due_at INTEGER,
    reference TEXT NOT NULL, beneficiary TEXT NOT NULL, context TEXT NOT NULL) STRICT;
`

export interface MovedPayment {
  readonly id: string
  readonly tenant: string
  readonly state: string
  /** JSON. */
  readonly context: string
  readonly digest: string
  readonly confirmed_at?: string | undefined
  /** That of the payout; an intent has none. */
  readonly reference?: string | undefined
  readonly beneficiary?: string | undefined
}

export interface MovablePage {
  readonly data: readonly MovedPayment[]
  /** Payments that were looked at and must stay. */
  readonly kept: number
  readonly next_after?: string | undefined
  /** The archive that these books have. */
  readonly archive_id?: string | undefined
  readonly path?: string | undefined
}

/** The books whose payments are moved. */
export interface MovingBooks {
  /** @param after next_after of the previous page. Empty means the first page */
  page(after: string): Promise<MovablePage>
  /** Names the archive in the books, if they have none yet. */
  claim(): Promise<void>
  /** Removes those that are still as the archive has them, once it may. @returns how many */
  remove(payments: readonly Pick<MovedPayment, 'id' | 'digest'>[]): Promise<number>
}

export interface Archived {
  readonly moved: number
  readonly kept: number
}

export interface ArchiveFile {
  readonly id: string
  readonly path: string
  /** @throws BackupFault when the books have another archive: nothing is moved */
  move(books: MovingBooks): Promise<Archived>
  /** Removes the file if it is new and was refused. */
  close(): Promise<void>
}

/** Opens the file or creates it. @throws BackupFault, SecretFileError */
export async function openArchive(given: string): Promise<ArchiveFile> {
  const path = resolve(given)
  const folder = dirname(path)
  if (!existsSync(folder)) throw new BackupFault(`There is no folder ${folder}: create it first.`)
  requirePrivateFolder(folder)
  const isNew = !existsSync(path)
  const file = await openDatabase(path, { sole: true })
  try {
    await file.exec(SCHEMA)
    return archiveIn(file, { path, isNew, id: await idOf(file, path) })
  } catch (error) {
    await file.close()
    throw error
  }
}

async function idOf(file: Database, path: string): Promise<string> {
  const meta = async (name: string): Promise<string | undefined> =>
    (await file.all<{ value: string }>('SELECT value FROM meta WHERE name = ?', [name]))[0]?.value
  const format = await meta('format')
  if (format === undefined) {
    const values = ['format', FORMAT, 'id', randomBytes(16).toString('hex')]
    await file.run('INSERT INTO meta (name, value) VALUES (?, ?), (?, ?)', values)
  } else if (format !== FORMAT) {
    throw new BackupFault(`${path} has format ${format}: this version writes ${FORMAT}.`)
  }
  const id = await meta('id')
  if (id === undefined) throw new BackupFault(`${path} is no archive: it has no id.`)
  return id
}

interface OpenedFile {
  readonly id: string
  readonly path: string
  readonly isNew: boolean
}

function archiveIn(file: Database, { id, path, isNew }: OpenedFile): ArchiveFile {
  let isRefused = false
  const ownPage = async (books: MovingBooks, after: string): Promise<MovablePage> => {
    const page = await books.page(after)
    isRefused = page.archive_id !== undefined && page.archive_id !== id
    if (!isRefused) return page
    throw new BackupFault(
      `These books have another archive, ${page.path}: move payments to that one.`,
    )
  }
  return {
    id,
    path,
    move: async (books) => {
      let [moved, kept] = [0, 0]
      for (let after: string | undefined = ''; after !== undefined;) {
        let page = await ownPage(books, after)
        if (page.archive_id === undefined && page.data.length > 0) {
          await books.claim()
          page = await ownPage(books, after)
        }
        kept += page.kept
        if (page.data.length > 0) {
          await write(file, page.data)
          const removed = await books.remove(page.data.map(({ id, digest }) => ({ id, digest })))
          moved += removed
          kept += page.data.length - removed
        }
        after = page.next_after
      }
      return { moved, kept }
    },
    close: async () => {
      await file.close()
      if (isNew && isRefused) rmSync(path)
      else await withoutWal(path).catch(() => undefined) // others read it: after the next run
    },
  }
}

const INTENT = `
  INSERT OR REPLACE INTO intents (id, tenant, state, confirmed_at, context)
    SELECT value ->> 'id', value ->> 'tenant', value ->> 'state',
           CAST(value ->> 'confirmed_at' AS INTEGER), value ->> 'context'
      FROM json_each(?)`
const PAYOUT = `
  INSERT OR REPLACE INTO payouts (id, tenant, state, reference, beneficiary, context)
    SELECT value ->> 'id', value ->> 'tenant', value ->> 'state', value ->> 'reference',
           value ->> 'beneficiary', value ->> 'context'
      FROM json_each(?)`

/** A page has payments of one kind. One statement: on disk when it resolves. */
async function write(file: Database, payments: readonly MovedPayment[]): Promise<void> {
  for (const { id, state, context, digest } of payments) {
    if (digestOfPayment(id, state, context) === digest) continue
    throw new BackupFault(`${id} did not arrive as the books have it.`)
  }
  const isPayout = payments[0]?.reference !== undefined
  await file.run(isPayout ? PAYOUT : INTENT, [JSON.stringify(payments)])
}
