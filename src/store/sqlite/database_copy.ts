/**
 * Copies of SQLite files that another process goes on writing.
 *
 * Owns: the snapshot of a file, the pace of its copy, the check of the copy. Does not own: which
 * files are copied, and in which order (src/backup).
 *
 * - A snapshot is an open read transaction: it shows one moment of the file, and the writer never
 *   waits for it. Until it is closed, the writer's WAL is not restarted, so it grows.
 * - Pages are copied in small steps inside that transaction, so a change of the file does not
 *   begin the copy again. After every few steps the copy is synced: otherwise the writer's next
 *   fsync would wait for all of it.
 * - A copy is one file without a WAL, with mode 0600.
 */
import { open, writeFile, type FileHandle } from 'node:fs/promises'
import sqlite3 from 'sqlite3'
import { openDatabase } from './database.js'

/** A megabyte of pages of 4 KB. */
const PAGES_PER_STEP = 256
const STEPS_PER_SYNC = 8
const PROBLEMS_MAX = 10
const OWNER_ONLY = 0o600

export interface Snapshot {
  readonly file: string
  /** Copies it to a new file. @throws when `isStopped` turns true */
  copyTo(target: string, isStopped: () => boolean): Promise<void>
  close(): Promise<void>
}

/** The driver has it, and its types do not. */
interface Backup {
  readonly completed: boolean
  step(pages: number, done: (error: Error | null) => void): void
  finish(done: () => void): void
}

type Source = sqlite3.Database & {
  backup(target: string, done: (error: Error | null) => void): Backup
}

class CopyStopped extends Error {
  override name = 'CopyStopped'
}

export async function takeSnapshot(file: string): Promise<Snapshot> {
  const source = await openSource(file)
  const exec = (sql: string): Promise<void> =>
    new Promise((resolve, reject) => {
      source.exec(sql, (error) => (error === null ? resolve() : reject(error)))
    })
  // A deferred transaction takes its snapshot at the first read.
  await exec('PRAGMA busy_timeout = 5000; BEGIN; SELECT count(*) FROM sqlite_schema')
  return {
    file,
    copyTo: (target, isStopped) => copyPages(source, target, isStopped),
    close: () =>
      new Promise((resolve, reject) => {
        source.close((error) => (error === null ? resolve() : reject(error)))
      }),
  }
}

function openSource(file: string): Promise<Source> {
  return new Promise((resolve, reject) => {
    const source = new sqlite3.Database(file, sqlite3.OPEN_READONLY, (error) => {
      if (error === null) resolve(source as Source)
      else reject(new Error(`cannot open ${file}: ${error.message}`))
    })
  })
}

async function copyPages(source: Source, target: string, isStopped: () => boolean): Promise<void> {
  await writeFile(target, '', { mode: OWNER_ONLY, flag: 'wx' })
  const written = await open(target, 'r+')
  const backup = await begin(source, target)
  try {
    await copySteps(backup, written, isStopped)
  } finally {
    await new Promise<void>((resolve) => backup.finish(resolve))
    await written.close()
  }
  await withoutWal(target)
}

function begin(source: Source, target: string): Promise<Backup> {
  return new Promise((resolve, reject) => {
    const backup = source.backup(target, (error) =>
      error === null ? resolve(backup) : reject(error),
    )
  })
}

async function copySteps(
  backup: Backup,
  written: FileHandle,
  isStopped: () => boolean,
): Promise<void> {
  for (let steps = 1; !backup.completed; steps += 1) {
    if (isStopped()) throw new CopyStopped('the copy was stopped')
    await new Promise<void>((resolve, reject) => {
      backup.step(PAGES_PER_STEP, (error) => (error === null ? resolve() : reject(error)))
    })
    if (steps % STEPS_PER_SYNC === 0) await written.datasync()
  }
}

/**
 * A file that needs no second one beside it; a writer sets its mode again.
 * @throws while others have it open
 */
export const withoutWal = (file: string): Promise<void> =>
  changeCopy(file, 'PRAGMA journal_mode = DELETE')

/** Changes a copy, which stays one file. */
export function changeCopy(file: string, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const copy = new sqlite3.Database(file, sqlite3.OPEN_READWRITE, (missing) => {
      if (missing !== null) return reject(missing)
      copy.exec(sql, (failed) => {
        copy.close((error) => {
          if ((failed ?? error) === null) resolve()
          else reject(failed ?? error!)
        })
      })
    })
  })
}

/** @returns what SQLite finds wrong in all of its tables and indexes; nothing when it is intact */
export async function problemsIn(file: string): Promise<readonly string[]> {
  try {
    const database = await openDatabase(file, { readOnly: true })
    const rows = await database
      .all<{ integrity_check: string }>(`PRAGMA integrity_check(${PROBLEMS_MAX})`)
      .finally(() => database.close())
    return rows.map((row) => row.integrity_check).filter((problem) => problem !== 'ok')
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** The number of migrations that a file has. */
export async function schemaOf(file: string): Promise<number> {
  const database = await openDatabase(file, { readOnly: true })
  const [row] = await database
    .all<{ user_version: number }>('PRAGMA user_version')
    .finally(() => database.close())
  return row?.user_version ?? 0
}
