/**
 * A SQLite file with a promise API.
 *
 * Owns: opening, pragmas, migrations, prepared statements, closing. Does not own: tables (callers),
 * checkpoint timing (checkpoints).
 *
 * - Only this file, database_copy and the supervisor's lock (supervisor/data_folder) import the
 *   driver.
 * - Statements of one connection run in sequence. A transaction of several statements is safe only
 *   for the sole user of a connection; our writers use one statement per commit instead.
 * - A commit is on disk before its promise resolves (WAL, synchronous=FULL: one fsync per commit).
 * - The driver binds bigint and undefined as NULL and rounds numbers above 2^53, so `Bindable`
 *   excludes both. Amounts are decimal text: CAST(? AS INTEGER) on input, CAST(x AS TEXT) on
 *   output.
 * - A file written by a newer version is rejected.
 * - A file opened with `sole` has one writer. The lock is an exclusive transaction on an empty file
 *   beside it: the operating system releases it with the process, so it is never stale, and readers
 *   are unaffected.
 * - A file opened with `sole`, and its WAL, get mode 0600: restored or copied files can have other
 *   permissions.
 * - A missing or empty file is not re-created while its WAL has content: SQLite would delete the
 *   WAL, which can be the only copy.
 * - A file that never had a WAL, as the copy of a backup, is not opened beside one that is of
 *   another file: SQLite would mix the pages of both.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import sqlite3 from 'sqlite3'
import { diskFullText, isDiskFull } from '../../base/disk_full.js'
import { isDamage } from '../../base/damage.js'
import { CHECKPOINT_PRAGMAS, createCheckpoints } from './checkpoints.js'
import type { Bindable, Database } from '../database.js'
import { SQLITE } from '../dialect.js'

export interface OpenOptions {
  /** Numbered `.sql` files, applied in order, each in one transaction. */
  readonly migrations?: string
  /** Called before each of them that changes a file of an earlier version. */
  readonly onMigration?: (name: string) => void
  readonly readOnly?: boolean
  /** Fails when another process has opened the file with `sole`. */
  readonly sole?: boolean
}

/**
 * The writer's cache is small because SQLite scans all of it in each commit that splits a page (it
 * renumbers siblings past the end of the file, then discards pages past the end). The operating
 * system's page cache serves all other pages. FAST overwrites what is deleted in pages that are
 * written anyway; ON would also write each page that becomes free, in every commit.
 */
const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 5000;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA secure_delete = FAST;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -8192;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA wal_autocheckpoint = 4000;
`
/** Readers need few, recently written pages, which the system's page cache holds too. */
const READ_PRAGMAS = `
  PRAGMA query_only = ON;
  PRAGMA busy_timeout = 5000;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -16384;
`

const OWNER_ONLY = 0o600

/** The timeout covers a killed process that has not exited yet. */
const LOCK = `
  PRAGMA busy_timeout = 2000;
  BEGIN EXCLUSIVE;
`

export async function openDatabase(file: string, options: OpenOptions = {}): Promise<Database> {
  const lock = options.sole === true ? await acquireLock(file) : undefined
  try {
    if (lock !== undefined) restrictToOwner(file)
    const database = await opened(file, options)
    return lock === undefined ? database : await withCheckpoints(file, database, lock)
  } catch (error) {
    await lock?.close()
    throw error
  }
}

function restrictToOwner(file: string): void {
  for (const part of [file, `${file}-wal`, `${file}-shm`]) {
    if (existsSync(part)) chmodSync(part, OWNER_ONLY)
  }
}

async function withCheckpoints(
  file: string,
  database: Database,
  lock: Database,
): Promise<Database> {
  const connection = withPromises(await connect(file, false), file)
  await connection.exec(PRAGMAS + CHECKPOINT_PRAGMAS)
  const checkpoints = createCheckpoints(connection)
  return {
    ...database,
    run: async (sql, parameters) => {
      const changed = await database.run(sql, parameters)
      checkpoints.committed()
      return changed
    },
    checkpoints: checkpoints.count,
    close: async () => {
      try {
        await checkpoints.close()
        await database.close()
      } finally {
        await lock.close()
      }
    },
  }
}

/**
 * Holds the lock of a file until the returned connection is closed. The file need not exist. Who
 * may read the file of the lock could hold it too, and keep the owner out.
 */
export async function acquireLock(file: string): Promise<Database> {
  const path = `${file}.lock`
  const lock = withPromises(await connect(path, false), path)
  try {
    restrictToOwner(path)
    await lock.exec(LOCK)
    return lock
  } catch (error) {
    await lock.close()
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
    throw new Error(`${file} is in use by another process: stop that one first`)
  }
}

async function opened(file: string, options: OpenOptions): Promise<Database> {
  if (sizeOf(file) === 0 && sizeOf(`${file}-wal`) > 0) {
    throw new Error(`${file} is missing or empty but has a WAL: restore the file, or move both`)
  }
  if (sizeOf(`${file}-wal`) > 0 && !isInWalMode(file)) {
    throw new Error(
      `${file}-wal is of another file, whose place the copy of a backup has taken: move it and ` +
        `${file}-shm away, and keep them`,
    )
  }
  const database = withPromises(await connect(file, options.readOnly === true), file)
  await database.exec(options.readOnly === true ? READ_PRAGMAS : PRAGMAS)
  if (options.migrations !== undefined) await migrate(database, file, options)
  return database
}

/** The byte at 18 of the header is 2 before the first commit to a WAL, and stays. */
function isInWalMode(file: string): boolean {
  const header = Buffer.alloc(19)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, header)
  } finally {
    closeSync(descriptor)
  }
  return header[18] === 2
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

function connect(file: string, readOnly: boolean): Promise<sqlite3.Database> {
  const mode = readOnly ? sqlite3.OPEN_READONLY : sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
  return new Promise((resolve, reject) => {
    const connection = new sqlite3.Database(file, mode, (error) => {
      if (error === null) resolve(connection)
      else reject(new Error(`cannot open ${file}: ${error.message}`))
    })
  })
}

function withPromises(connection: sqlite3.Database, file: string): Database {
  const prepared = new Map<string, Promise<sqlite3.Statement>>()

  const statement = (sql: string): Promise<sqlite3.Statement> => {
    let known = prepared.get(sql)
    if (known === undefined) {
      known = new Promise((resolve, reject) => {
        const made: sqlite3.Statement = connection.prepare(sql, (error: Error | null) => {
          if (error === null) return resolve(made)
          prepared.delete(sql) // without a file descriptor, say: the next call tries again
          reject(fileNamed(error, file))
        })
      })
      prepared.set(sql, known)
    }
    return known
  }

  const run = async (sql: string, parameters: readonly Bindable[] = []): Promise<number> => {
    const ready = await statement(sql)
    return new Promise((resolve, reject) => {
      ready.run([...parameters], function (this: sqlite3.RunResult, error: Error | null) {
        if (error === null) resolve(this.changes)
        else reject(fileNamed(error, file))
      })
    })
  }

  const all = async <Row>(sql: string, parameters: readonly Bindable[] = []): Promise<Row[]> => {
    const ready = await statement(sql)
    return new Promise((resolve, reject) => {
      ready.all<Row>([...parameters], (error: Error | null, rows: Row[]) => {
        if (error === null) resolve(rows)
        else reject(fileNamed(error, file))
      })
    })
  }

  const exec = (sql: string): Promise<void> =>
    new Promise((resolve, reject) => {
      connection.exec(sql, (error) => (error === null ? resolve() : reject(fileNamed(error, file))))
    })

  const close = async (): Promise<void> => {
    for (const made of prepared.values()) {
      const ready = await made.catch(() => undefined)
      if (ready !== undefined) await new Promise<void>((resolve) => ready.finalize(() => resolve()))
    }
    await new Promise<void>((resolve, reject) => {
      connection.close((error) => (error === null ? resolve() : reject(error)))
    })
  }

  return { dialect: SQLITE, run, all, exec, close }
}

/** The error of a file that SQLite cannot read or extend, with its name. Any other as it is. */
function fileNamed(error: Error & { readonly code?: string }, file: string): Error {
  if (isDamage(error)) error.message = `${file} is damaged: ${error.message}`
  else if (isDiskFull(error)) error.message = diskFullText(file, error)
  return error
}

/** Applies pending migrations. `user_version` is the number of applied files. */
async function migrate(
  database: Database,
  file: string,
  { migrations: folder = '', onMigration }: OpenOptions,
): Promise<void> {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const [row] = await database.all<{ user_version: number }>('PRAGMA user_version')
  const applied = row?.user_version ?? 0
  if (applied > files.length) {
    throw new Error(`${file} was written by a newer version (${applied} > ${files.length})`)
  }
  for (const [index, name] of files.entries()) {
    if (index < applied) continue
    const sql = readFileSync(join(folder, name), 'utf8')
    if (applied > 0) onMigration?.(name)
    try {
      await database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT;`)
    } catch (error) {
      await database.exec('ROLLBACK').catch(() => undefined)
      throw new Error(`migration ${name} failed: ${String(error)}`)
    }
  }
}
