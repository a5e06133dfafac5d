/**
 * DATA_DIR: made, writable, and ours alone.
 *
 * Owns: the folder and its lock. Does not own: what lies in it.
 *
 * - Two stacks never share a folder: two writers on one set of books would end it. The lock is an
 *   exclusive SQLite transaction on a file of its own: the system drops it with the process, so
 *   that none is ever stale, and it holds between containers that share a volume.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import sqlite from 'sqlite3'
import { StartupError, sayOf } from './startup_error.js'

const LOCK_FILE = 'supervisor.lock'

export interface DataFolder {
  readonly path: string
  /** A folder inside, made if need be. */
  folder(name: string): string
  file(name: string): string
  release(): Promise<void>
}

export async function openDataFolder(given: string): Promise<DataFolder> {
  const path = resolve(given)
  makeFolder(path, given)
  const release = await lock(path, given)
  return {
    path,
    folder: (name) => {
      const folder = join(path, name)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      return folder
    },
    file: (name) => join(path, name),
    release,
  }
}

function makeFolder(path: string, given: string): void {
  try {
    makeWithParents(path)
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder')
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartupError(
      `DATA_DIR=${given} cannot be used (${sayOf(error)}): choose a folder you may write to.`,
    )
  }
}

/** Where no folder can be made (/proc), mkdirSync's own `recursive` tries for ever. */
function makeWithParents(path: string): void {
  if (existsSync(path)) return
  makeWithParents(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

function lock(path: string, given: string): Promise<() => Promise<void>> {
  return new Promise((done, fail) => {
    const refuse = (error: Error): void => {
      const held = 'code' in error && error.code === 'SQLITE_BUSY'
      const why = held
        ? `DATA_DIR=${given} is in use by a running stack: stop that one, or choose another folder.`
        : `DATA_DIR=${given} cannot be locked (${error.message}).`
      fail(new StartupError(why))
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
