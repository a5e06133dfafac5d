/**
 * Two small files in DATA_DIR about backups: which one was restored here, and which was made last.
 *
 * - `restored.json` is written before the restored books, and removed when the books have recorded
 *   that they are in recovery mode. Until then each start begins it, so restored books are never
 *   served as if they were the newest.
 * - `backup.json` names the newest backup. Its age is a metric of the processor.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { SECOND, type Instant } from '../base/clock.js'
import { writeSecretFile } from './secret_file.js'

export interface RestoredMark {
  /** The id of the restored books. Null if the backup is of a whole server. */
  readonly booksId: string | null
  /** RFC 3339, of the backup. */
  readonly snapshotAt: string
}

export interface LastBackup {
  /** Epoch ms, of its snapshot. */
  readonly snapshotAt: number
  readonly folder: string
}

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`

export const writeRestoredMark = (file: string, mark: RestoredMark): void =>
  writeSecretFile(file, lineOf(mark))

export const removeRestoredMark = (file: string): void => rmSync(file, { force: true })

/** @returns undefined when nothing was restored @throws when the file is damaged */
export function readRestoredMark(file: string): RestoredMark | undefined {
  if (!existsSync(file)) return undefined
  const { booksId, snapshotAt } = membersIn(file)
  const isOfBooks = booksId === null || typeof booksId === 'string'
  if (isOfBooks && typeof snapshotAt === 'string') return { booksId, snapshotAt }
  throw new Error(`${file} is damaged: restore the backup again, into an empty DATA_DIR`)
}

export const writeLastBackup = (file: string, last: LastBackup): void =>
  writeSecretFile(file, lineOf(last))

/** @returns undefined when there is none, or the file is damaged */
export function readLastBackup(file: string): LastBackup | undefined {
  const { snapshotAt, folder } = membersIn(file)
  if (typeof snapshotAt !== 'number' || typeof folder !== 'string') return undefined
  return { snapshotAt, folder }
}

/** Infinite without a backup, so an alert on its age covers that too. */
export function backupAgeSeconds(file: string, now: Instant): number {
  const last = readLastBackup(file)
  return last === undefined ? Infinity : Math.max(0, (now - last.snapshotAt) / SECOND)
}

/**
 * Null for a PostgreSQL server without a backup from here: its own tools, or another machine, can
 * make them.
 */
export const knownBackupAgeSeconds = (
  file: string,
  isOfServer: boolean,
  now: Instant,
): number | null =>
  isOfServer && readLastBackup(file) === undefined ? null : backupAgeSeconds(file, now)

function membersIn(file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
