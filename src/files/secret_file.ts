/**
 * Files with secrets and files that the service writes for itself: how they are read and written.
 *
 * - A file or folder is trusted only when it belongs to root or to the user of this process, and
 *   when others cannot read or write it. What others could have written is not a secret of ours.
 * - A file is checked on its open descriptor, so it cannot be exchanged after the check.
 * - A symbolic link is refused. Only a file that a setting names may be one, as the secret mounts
 *   of container platforms are; the link must have a trusted owner too.
 * - A written file has mode 0600, and it survives a power cut: its contents and its name are
 *   synced. A reader finds the former contents or the new ones.
 * - No message contains a part of a secret.
 */
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { dirname } from 'node:path'
import { diskFullText, isDiskFull } from '../base/disk_full.js'

const ROOT = 0
const OWNER_ONLY = 0o600
const OTHERS = 0o077
/** Others may pass through a folder: the user of a bundled PostgreSQL server does. */
const READ_OR_WRITE_OF_OTHERS = 0o066
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Shorter ones could be guessed. Those of the service have more. */
export const TOKEN_MIN_CHARACTERS = 32

/**
 * A file or folder that is not trusted, or for which the disk has no space: one sentence with its
 * path, the fault and what to do.
 */
export class SecretFileError extends Error {
  override name = 'SecretFileError'
}

export interface ReadOptions {
  /** It is the value of a setting: it may be a symbolic link. */
  readonly isNamed?: boolean
}

/** @throws SecretFileError; the error of the file system when there is none */
export function readSecretFile(file: string, { isNamed = false }: ReadOptions = {}): string {
  requireTrustedName(file, isNamed)
  // Without blocking: a planted pipe would wait for a writer.
  const descriptor = openSync(
    file,
    constants.O_RDONLY | constants.O_NONBLOCK | (isNamed ? 0 : constants.O_NOFOLLOW),
  )
  try {
    const found = fstatSync(descriptor)
    requireOwner(file, found)
    if (!found.isFile()) throw notAFile(file)
    if ((found.mode & OTHERS) !== 0) {
      throw new SecretFileError(
        `${file} is accessible to others (mode ${modeOf(found)}): chmod 600 it, and replace its ` +
          'secret if others may have read or written it.',
      )
    }
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/** @throws SecretFileError, also for a token that could be guessed */
export function readTokenFile(file: string, options: ReadOptions = {}): string {
  const token = readSecretFile(file, options).trim()
  if (token.length >= TOKEN_MIN_CHARACTERS) return token
  throw new SecretFileError(
    `${file} has a token of ${token.length} characters: it needs at least ` +
      `${TOKEN_MIN_CHARACTERS}; replace it.`,
  )
}

/**
 * Writes the file or replaces it.
 * @throws SecretFileError when the name is that of a link, a folder or a file of another user
 */
export function writeSecretFile(file: string, text: string): void {
  requireTrustedName(file, false)
  const draft = draftOf(file)
  try {
    writeNew(draft, text, { name: file })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(file))
}

/** Writes a file that does not exist yet. Of two processes that do so, the first one wins. */
export function createSecretFile(file: string, text: string): 'created' | 'exists' {
  const draft = draftOf(file)
  try {
    writeNew(draft, text, { name: file })
    linkSync(draft, file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
    return 'exists'
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(file))
  return 'created'
}

/** A file that another user reads once, for a program that runs as that user. */
export function writeSecretFileFor(
  file: string,
  text: string,
  owner: { readonly uid: number; readonly gid: number } | undefined,
): void {
  writeNew(file, text, { owner })
}

/** @throws SecretFileError; a missing folder has no fault */
export function requirePrivateFolder(folder: string, name = folder): void {
  if (!existsSync(folder)) return
  const found = statSync(folder)
  requireOwner(name, found)
  if ((found.mode & READ_OR_WRITE_OF_OTHERS) !== 0) {
    throw new SecretFileError(
      `${name} is open to others (mode ${modeOf(found)}): chmod 700 it, and check the files in ` +
        'it. If other programs use it, name a folder of its own instead.',
    )
  }
}

function requireTrustedName(file: string, mayBeLink: boolean): void {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return
  requireOwner(file, found)
  if (found.isSymbolicLink() && !mayBeLink) {
    throw new SecretFileError(
      `${file} is a symbolic link, which is not followed: replace it by the file itself.`,
    )
  }
  if (!found.isFile() && !found.isSymbolicLink()) throw notAFile(file)
}

function requireOwner(path: string, { uid }: Stats): void {
  const own = process.geteuid?.() ?? uid
  if (uid === ROOT || uid === own) return
  throw new SecretFileError(
    `${path} belongs to user ${uid}, not to root or to user ${own} of this process: ` +
      `run this as user ${uid}, or chown it if its contents are trusted.`,
  )
}

const notAFile = (file: string): SecretFileError =>
  new SecretFileError(`${file} is not a regular file: remove it.`)

const modeOf = ({ mode }: Stats): string => (mode & 0o777).toString(8)

/** Each process has a draft of its own, so that two do not write the same one. */
const draftOf = (file: string): string => `${file}.${process.pid}.new`

interface NewFile {
  /** In the fault of a full disk. Default: that of the file. */
  readonly name?: string
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined
}

/** A draft that a killed process left is removed first; the new one follows no link. */
function writeNew(file: string, text: string, { name = file, owner }: NewFile): void {
  rmSync(file, { force: true })
  const descriptor = openSync(file, NEW_FILE, OWNER_ONLY)
  try {
    writeFileSync(descriptor, text)
    if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid)
    fsyncSync(descriptor)
  } catch (error) {
    throw isDiskFull(error) ? new SecretFileError(diskFullText(name, error)) : error
  } finally {
    closeSync(descriptor)
  }
}

/** The name must survive a power cut too. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
