/**
 * Restores a backup into an empty DATA_DIR.
 *
 * - Nothing is written before the whole backup is verified: manifest, versions, sizes, digests, and
 *   the disk has the space of its files.
 * - The mark that begins recovery mode is on disk before the books are. The books come last, so a
 *   restore that was interrupted leaves nothing that starts.
 * - Keys that are in DATA_DIR already stay; one that differs from the backup's is refused.
 */
import { constants, existsSync, readdirSync, readFileSync } from 'node:fs'
import { copyFile, open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeRestoredMark } from '../files/backup_marks.js'
import { FILES } from '../base/subjects.js'
import { backupsIn, requireFolder, syncFolder } from './backups.js'
import { requireKnownSchema } from './databases.js'
import { requireFree } from './free_space.js'
import {
  BackupFault,
  digestOf,
  KEY_FILES,
  MANIFEST,
  readManifest,
  requireIntact,
  SERVER_FILES,
  type BackedUpFile,
  type Manifest,
} from './manifest.js'

/** What a stopped start, or this command, may have left. */
const HARMLESS = [...KEY_FILES, 'supervisor.lock', 'supervisor.lock-journal']

export interface RestoredBackup {
  readonly manifest: Manifest
  /** Keys and tokens that neither the backup nor DATA_DIR has. */
  readonly missingKeys: readonly string[]
}

/** Its files are not read. @param folder one backup @throws BackupFault */
export function manifestOf(folder: string): Manifest {
  requireOneBackup(folder)
  const manifest = readManifest(folder)
  const isWhole = isOfServer(manifest) || hasFile(manifest, FILES.processorDatabase)
  if (!isWhole) {
    throw new BackupFault(`${folder} has no ${FILES.processorDatabase}: take another backup.`)
  }
  for (const file of manifest.files) requireKnownSchema(folder, file)
  return manifest
}

/** @param dataDir may be missing @throws BackupFault when its disk has less than the files need */
export async function requireSpace(
  dataDir: string,
  { files }: Manifest,
  freeBytes: (folder: string) => Promise<number>,
): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  requireFree(dataDir, await freeBytes(existingFolder(dataDir)), bytes)
}

const existingFolder = (folder: string): string =>
  existsSync(folder) ? folder : existingFolder(dirname(folder))

/** Compares each file with the manifest. @throws BackupFault */
export async function verifyFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const file of files) await requireIntact(folder, file)
}

const hasFile = ({ files }: Manifest, wanted: string): boolean =>
  files.some(({ name }) => name === wanted)

/** Its files are those of a PostgreSQL server, which does not start from DATA_DIR. */
export const isOfServer = (manifest: Manifest): boolean =>
  SERVER_FILES.some((name) => hasFile(manifest, name))

/** The server itself is restored on its machine: the next processor here begins recovery mode. */
export const markRestored = (dataDir: string, { books, snapshot_at }: Manifest): void =>
  writeRestoredMark(join(dataDir, FILES.restored), {
    booksId: books.id,
    snapshotAt: snapshot_at,
  })

function requireOneBackup(folder: string): void {
  if (!existsSync(folder)) throw new BackupFault(`there is no folder ${folder}.`)
  requireFolder(folder)
  if (existsSync(join(folder, MANIFEST))) return
  const [newest, ...others] = backupsIn(folder)
  if (newest === undefined) return
  const all = others.length === 0 ? '1 backup' : `${others.length + 1} backups`
  throw new BackupFault(
    `${folder} is a folder of ${all}: name one of them; the newest is ${newest.folder}`,
  )
}

/** @throws BackupFault */
export function requireEmpty(dataDir: string): void {
  if (!existsSync(dataDir)) return
  requireFolder(dataDir)
  const [found] = readdirSync(dataDir).filter((name) => !HARMLESS.includes(name))
  if (found === undefined) return
  throw new BackupFault(
    `DATA_DIR=${dataDir} is not empty (${found}): name an empty one, or move the old one away ` +
      'and keep it as evidence.',
  )
}

/** @param dataDir empty, and locked by the caller */
export async function restoreBackup(
  folder: string,
  dataDir: string,
  manifest: Manifest,
): Promise<RestoredBackup> {
  const isKey = ({ name }: BackedUpFile): boolean => KEY_FILES.includes(name)
  const isBooks = ({ name }: BackedUpFile): boolean => name === FILES.processorDatabase
  const { files } = manifest
  for (const file of files.filter(isKey)) await restoreKey(folder, dataDir, file)
  markRestored(dataDir, manifest)
  for (const file of files)
    if (!isKey(file) && !isBooks(file)) await restoreFile(folder, dataDir, file)
  for (const file of files.filter(isBooks)) await restoreFile(folder, dataDir, file)
  const missingKeys = KEY_FILES.filter((name) => !existsSync(join(dataDir, name)))
  return { manifest, missingKeys }
}

async function restoreKey(folder: string, dataDir: string, file: BackedUpFile): Promise<void> {
  const own = join(dataDir, file.name)
  if (!existsSync(own)) return restoreFile(folder, dataDir, file)
  if (readFileSync(own).equals(readFileSync(join(folder, file.name)))) return
  throw new BackupFault(`${own} differs from that of the backup: move one of them away.`)
}

/** What was written is read again: a digest of the source says nothing about the copy. */
async function restoreFile(folder: string, dataDir: string, file: BackedUpFile): Promise<void> {
  const draft = join(dataDir, `${file.name}.new`)
  await copyFile(join(folder, file.name), draft, constants.COPYFILE_EXCL)
  const written = await open(draft, 'r+')
  try {
    await written.chmod(0o600)
    await written.sync()
  } finally {
    await written.close()
  }
  if ((await digestOf(draft)) !== file.sha256) {
    throw new BackupFault(`${draft} was not written as it is in the backup: check the disk.`)
  }
  await rename(draft, join(dataDir, file.name))
  await syncFolder(dataDir)
}
