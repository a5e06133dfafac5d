/**
 * One SQLite file behind promises.
 *
 * Owns: opening, pragmas, migrations, prepared statements, closing. Does not own: any table (its
 * callers do), when the WAL is copied (checkpoints).
 *
 * - Only this file and the supervisor's lock (supervisor/data_folder) import the driver, so that
 *   it can be replaced.
 * - Statements of one connection run one after another. A caller that needs several statements in
 *   one transaction must be the only one that writes on that connection; our writers use one
 *   statement a commit instead.
 * - A commit is on disk before its promise resolves (WAL, synchronous=FULL: one fsync a commit).
 * - The driver binds a bigint or undefined as NULL and rounds above 2^53: `Bindable` leaves both
 *   out. Amounts travel as decimal text, with CAST(? AS INTEGER) on the way in and CAST(x AS
 *   TEXT) on the way out.
 * - A file written by a newer version is refused, never read by guess.
 * - A file that is opened `sole` has one writer. Its lock is an exclusive transaction on an empty
 *   file beside it: the system drops it with the process, so none is ever stale, and readers do
 *   not meet it.
 * - A file opened `sole` is for its owner alone, with its WAL: what was restored or copied may
 *   have come with other permissions.
 * - A file that is gone or empty is not made anew while its WAL holds something: SQLite would
 *   delete that, and what is in it may be nowhere else.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import sqlite3 from 'sqlite3'
import { CHECKPOINT_PRAGMAS, createCheckpoints } from './checkpoints.js'

export type Bindable = string | number | Buffer | null

export interface Statement {
  readonly sql: string
  readonly values: readonly Bindable[]
}

export interface Database {
  /** Runs one statement; resolves with the number of changed rows. */
  run(sql: string, parameters?: readonly Bindable[]): Promise<number>
  /** All rows of one query. The caller names the row's type; the query must select exactly that. */
  all<Row>(sql: string, parameters?: readonly Bindable[]): Promise<Row[]>
  /** Several statements without parameters. */
  exec(sql: string): Promise<void>
  close(): Promise<void>
}

export interface OpenOptions {
  /** Numbered `.sql` files, applied in order, each in one transaction. */
  readonly migrations?: string
  readonly readOnly?: boolean
  /** Refuses a file that somebody else has opened so. */
  readonly sole?: boolean
}

/**
 * A writer's cache is small: SQLite looks through all of it in each commit that splits a page (it
 * gives siblings a number beyond the file's end while it sorts them, then drops what lies beyond).
 * What is not in it the system has.
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
/** A reader looks at a page or two of what was written last, which the system has as well. */
const READ_PRAGMAS = `
  PRAGMA query_only = ON;
  PRAGMA busy_timeout = 5000;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -16384;
`

const OWNER_ONLY = 0o600

/** A process that was killed may still be on its way out. */
const LOCK = `
  PRAGMA busy_timeout = 2000;
  BEGIN EXCLUSIVE;
`

export async function openDatabase(file: string, options: OpenOptions = {}): Promise<Database> {
  const lock = options.sole === true ? await lockOf(file) : undefined
  try {
    if (lock !== undefined) keepToOwner(file)
    const database = await opened(file, options)
    return lock === undefined ? database : await writerOf(file, database, lock)
  } catch (error) {
    await lock?.close()
    throw error
  }
}

function keepToOwner(file: string): void {
  for (const part of [file, `${file}-wal`, `${file}-shm`]) {
    if (existsSync(part)) chmodSync(part, OWNER_ONLY)
  }
}

async function writerOf(file: string, database: Database, lock: Database): Promise<Database> {
  const connection = promises(await connect(file, false))
  await connection.exec(PRAGMAS + CHECKPOINT_PRAGMAS)
  const checkpoints = createCheckpoints(connection)
  return {
    ...database,
    run: async (sql, parameters) => {
      const changed = await database.run(sql, parameters)
      checkpoints.committed()
      return changed
    },
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

/** Held until it is closed. */
async function lockOf(file: string): Promise<Database> {
  const lock = promises(await connect(`${file}.lock`, false))
  try {
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
    throw new Error(`${file} is gone or empty, but not ${file}-wal: bring it back, or move both`)
  }
  const database = promises(await connect(file, options.readOnly === true))
  await database.exec(options.readOnly === true ? READ_PRAGMAS : PRAGMAS)
  if (options.migrations !== undefined) await migrate(database, file, options.migrations)
  return database
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

function promises(connection: sqlite3.Database): Database {
  const prepared = new Map<string, Promise<sqlite3.Statement>>()

  const statement = (sql: string): Promise<sqlite3.Statement> => {
    let known = prepared.get(sql)
    if (known === undefined) {
      known = new Promise((resolve, reject) => {
        const made: sqlite3.Statement = connection.prepare(sql, (error: Error | null) => {
          if (error === null) resolve(made)
          else reject(error)
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
        else reject(error)
      })
    })
  }

  const all = async <Row>(sql: string, parameters: readonly Bindable[] = []): Promise<Row[]> => {
    const ready = await statement(sql)
    return new Promise((resolve, reject) => {
      ready.all<Row>([...parameters], (error: Error | null, rows: Row[]) => {
        if (error === null) resolve(rows)
        else reject(error)
      })
    })
  }

  const exec = (sql: string): Promise<void> =>
    new Promise((resolve, reject) => {
      connection.exec(sql, (error) => (error === null ? resolve() : reject(error)))
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

  return { run, all, exec, close }
}

/** Applies what is missing. The number in `user_version` is the count of applied files. */
async function migrate(database: Database, file: string, folder: string): Promise<void> {
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
    try {
      await database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT;`)
    } catch (error) {
      await database.exec('ROLLBACK').catch(() => undefined)
      throw new Error(`migration ${name} failed: ${String(error)}`)
    }
  }
}
