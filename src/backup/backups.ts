/**
 * The folder of backups: one subfolder for each, named by its moment.
 *
 * - A backup is written under a name that no list has, and renamed when it is whole. What a killed
 *   run has left is removed by the next one, which holds the folder's lock.
 * - Only whole backups of the same books are counted and pruned. The newest one with a clean audit
 *   is never pruned.
 * - Those that are named later than the newest one were made while a clock was ahead: they count as
 *   the oldest ones.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { toRfc3339, type Instant } from '../base/clock.js'
import { requirePrivateFolder } from '../files/secret_file.js'
import { acquireLock } from '../store/sqlite/database.js'
import { BackupFault, readManifest, type Manifest } from './manifest.js'

const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/
const DRAFT = /^\.\d{4}-[\dT.Z-]+\.part$/
const OWNER_ONLY = 0o700

export interface Backup {
  readonly folder: string
  readonly manifest: Manifest
}

/** The one that was made last. */
export interface NewestBackup {
  readonly folder: string
  readonly booksId: string
}

export interface BackupFolder {
  readonly path: string
  /** An empty folder to write a backup into. */
  draft(at: Instant): string
  /** Gives the draft its final name. @returns its path */
  finish(draft: string, at: Instant): Promise<string>
  discard(draft: string): void
  /** Removes all but the newest backups of these books. @returns the removed ones */
  prune(newest: NewestBackup, keep: number): readonly string[]
  release(): Promise<void>
}

export async function openBackupFolder(given: string): Promise<BackupFolder> {
  const path = resolve(given)
  makeFolder(path)
  requireFolder(path)
  requirePrivateFolder(path)
  const lock = await acquireLock(join(path, 'backups'))
  for (const name of readdirSync(path)) if (DRAFT.test(name)) removeFolder(join(path, name))
  return {
    path,
    draft: (at) => {
      const draft = join(path, `.${nameOf(at)}.part`)
      mkdirSync(draft, { mode: OWNER_ONLY })
      chmodSync(draft, OWNER_ONLY) // whatever the umask
      return draft
    },
    finish: async (draft, at) => {
      const folder = join(path, nameOf(at))
      await syncFolder(draft)
      await rename(draft, folder)
      await syncFolder(path)
      return folder
    },
    discard: removeFolder,
    prune: (newest, keep) => {
      const own = backupsIn(path).filter(({ manifest }) => manifest.books.id === newest.booksId)
      const isAhead = ({ folder }: Backup): boolean => folder > newest.folder
      const ordered = [...own.filter((each) => !isAhead(each)), ...own.filter(isAhead)]
      const clean = ordered.find(({ manifest }) => manifest.audit.clean)
      const old = ordered.slice(keep).filter((backup) => backup !== clean)
      for (const { folder } of old) removeFolder(folder)
      return old.map(({ folder }) => folder)
    },
    release: () => lock.close(),
  }
}

/**
 * One folder after the other: in a file system that creates none, such as /proc, the recursive
 * mkdir of Node does not end.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent)
  try {
    mkdirSync(path, { mode: OWNER_ONLY })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    const why = code === 'ENOENT' ? 'its file system creates no folders' : message
    throw new BackupFault(`${path} cannot be created (${why}): name another folder.`)
  }
}

/** @throws BackupFault; a missing one has no fault */
export function requireFolder(path: string): void {
  if (existsSync(path) && !statSync(path).isDirectory())
    throw new BackupFault(`${path} is not a folder.`)
}

/** Whole ones, newest first. */
export function backupsIn(path: string): readonly Backup[] {
  if (!existsSync(path)) return []
  const names = readdirSync(path).filter((name) => NAME.test(name))
  return names
    .sort()
    .reverse()
    .flatMap((name) => {
      const folder = join(path, name)
      const manifest = wholeManifest(folder)
      return manifest === undefined ? [] : [{ folder, manifest }]
    })
}

function wholeManifest(folder: string): Manifest | undefined {
  try {
    return readManifest(folder)
  } catch (error) {
    if (error instanceof BackupFault) return undefined
    throw error
  }
}

const nameOf = (at: Instant): string => toRfc3339(at).replaceAll(':', '-')

const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true })

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  await folder.sync().finally(() => folder.close())
}
