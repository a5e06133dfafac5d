/**
 * DATA_DIR: created, checked to be writable and private, and locked. An empty one is made private.
 *
 * - Two stacks never share a folder, because the processor is the single writer. The lock is an
 *   exclusive SQLite transaction on a file of its own: the kernel releases it with the process, so
 *   it is never stale, and it works between containers that share a volume.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import sqlite from 'sqlite3'
import { diskFullText, isDiskFull } from '../base/disk_full.js'
import { requirePrivateDataDir } from '../settings/settings.js'
import { StartupError, messageOf } from './startup_error.js'

const LOCK_FILE = 'supervisor.lock'
const PRIVATE_FOLDER = 0o700
const WRITE_OF_OTHERS = 0o022

/** A running stack holds the lock. */
export class FolderInUse extends StartupError {}

export interface DataFolder {
  readonly path: string
  /** A subfolder, created if missing. */
  folder(name: string): string
  file(name: string): string
  release(): Promise<void>
}

export async function openDataFolder(given: string): Promise<DataFolder> {
  const path = resolve(given)
  createFolder(path, given)
  closeIfEmpty(path)
  requirePrivateDataDir({ DATA_DIR: given })
  const release = await lock(path, given)
  return {
    path,
    folder: (name) => {
      const folder = join(path, name)
      mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
      return folder
    },
    file: (name) => join(path, name),
    release,
  }
}

function createFolder(path: string, given: string): void {
  try {
    createWithParents(path)
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder')
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartupError(
      `DATA_DIR=${given} cannot be used (${messageOf(error)}): choose a writable folder.`,
    )
  }
}

/** A new folder of `mkdir`: others can read it, but nothing is in it yet. */
function closeIfEmpty(path: string): void {
  const { uid, mode } = statSync(path)
  if (uid !== process.geteuid?.() || (mode & WRITE_OF_OTHERS) !== 0) return
  if (readdirSync(path).length === 0) chmodSync(path, PRIVATE_FOLDER)
}

/** `mkdirSync` with `recursive` never returns where no folder can be created (/proc). */
function createWithParents(path: string): void {
  if (existsSync(path)) return
  createWithParents(dirname(path))
  mkdirSync(path, { mode: PRIVATE_FOLDER })
}

function lock(path: string, given: string): Promise<() => Promise<void>> {
  return new Promise((done, fail) => {
    const refuse = (error: Error): void => {
      const held = 'code' in error && error.code === 'SQLITE_BUSY'
      const fault = isDiskFull(error) ? diskFullText(join(path, LOCK_FILE), error) : error.message
      const why = held
        ? `DATA_DIR=${given} is in use by a running stack: stop it, or choose another folder.`
        : `DATA_DIR=${given} cannot be locked: ${fault}`
      fail(held ? new FolderInUse(why) : new StartupError(why))
    }
    const file = new sqlite.Database(join(path, LOCK_FILE), (failure) => {
      if (failure !== null) return refuse(failure)
      file.exec('BEGIN EXCLUSIVE', (busy) => {
        if (busy !== null) return refuse(busy)
        done(() => new Promise((closed) => file.close(() => closed())))
      })
    })
  })
}
