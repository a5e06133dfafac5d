/**
 * Makes one backup of a DATA_DIR, beside a running stack or of a stopped one.
 *
 * - All snapshots are taken within milliseconds, in the order of `databasesIn`; then the files are
 *   copied. So the gap between them does not grow with their size.
 * - A copy that SQLite finds damaged is discarded. One whose audit is broken is kept and says so:
 *   the books themselves are broken then, and it can be the best that there is.
 * - The copy of the books knows that it is one: it begins recovery mode however it is opened.
 * - Files have mode 0600. The manifest is the last file; then the folder gets its final name.
 */
import { copyFile, open, stat } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../audit/audit.js'
import { openBooks } from '../audit/books.js'
import { conclusion } from '../audit/report.js'
import { toRfc3339, type Clock, type Instant } from '../base/clock.js'
import { crashPoint } from '../base/crash_point.js'
import { writeSecretFile } from '../files/secret_file.js'
import { FILES } from '../base/subjects.js'
import { MARKED_FROM_SCHEMA, markOfCopy } from '../store/copied_books.js'
import { openDatabase } from '../store/sqlite/database.js'
import {
  changeCopy,
  problemsIn,
  schemaOf,
  takeSnapshot,
  type Snapshot,
} from '../store/sqlite/database_copy.js'
import type { BackupFolder } from './backups.js'
import { requireFree } from './free_space.js'
import { stateOf } from './books_state.js'
import { databasesIn } from './databases.js'
import {
  BackupFault,
  digestOf,
  MANIFEST,
  manifestText,
  readManifest,
  type BackedUpFile,
  type BooksState,
  type Manifest,
} from './manifest.js'

export interface BackupOptions {
  readonly dataDir: string
  readonly into: BackupFolder
  /** Paths of secrets that are copied too, by their names in a DATA_DIR. */
  readonly keys: ReadonlyMap<string, string>
  readonly version: string
  readonly clock: Clock
  /** Bytes that are free where the folder is. */
  readonly freeBytes: (folder: string) => Promise<number>
  /** Milliseconds of a monotonic clock. */
  readonly stopwatch: () => number
  readonly isStopped: () => boolean
}

export interface MadeBackup {
  readonly folder: string
  readonly manifest: Manifest
  /** Milliseconds; the writer's WAL was not restarted in `copying`. */
  readonly took?: { readonly copying: number; readonly checking: number }
}

/** @throws BackupFault, CopyStopped */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const { dataDir, into, clock, stopwatch } = options
  const names = databasesIn(dataDir)
  requireFree(into.path, await options.freeBytes(into.path), await sizeOf(dataDir, names))
  const begun = clock.now()
  const draft = into.draft(begun)
  try {
    const startedAt = stopwatch()
    const snapshotAt = await copyDatabases(options, names, draft)
    const copiedAt = stopwatch()
    crashPoint('backup.copied')
    for (const [name, path] of options.keys) await copyKey(path, join(draft, name))
    const manifest = await checkedManifest(options, { begun, snapshotAt, names, draft })
    writeSecretFile(join(draft, MANIFEST), manifestText(manifest))
    crashPoint('backup.written')
    const folder = await into.finish(draft, begun)
    crashPoint('backup.finished')
    const took = { copying: copiedAt - startedAt, checking: stopwatch() - copiedAt }
    return { folder, manifest: readManifest(folder), took }
  } catch (error) {
    into.discard(draft)
    throw error
  }
}

async function sizeOf(dataDir: string, names: readonly string[]): Promise<number> {
  const files = names.flatMap((name) => [name, `${name}-wal`]).map((name) => join(dataDir, name))
  const sizes = await Promise.all(
    files.filter((file) => existsSync(file)).map(async (file) => (await stat(file)).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** @returns the moment after which the books may lack something */
async function copyDatabases(
  { dataDir, clock, isStopped }: BackupOptions,
  names: readonly string[],
  draft: string,
): Promise<Instant> {
  const snapshots: (readonly [string, Snapshot])[] = []
  let snapshotAt = clock.now()
  try {
    for (const name of names) {
      if (name === FILES.processorDatabase) snapshotAt = clock.now()
      snapshots.push([name, await takeSnapshot(join(dataDir, name))])
    }
    crashPoint('backup.snapshots_taken')
    for (const [name, snapshot] of snapshots) await snapshot.copyTo(join(draft, name), isStopped)
    await markBooks(join(draft, FILES.processorDatabase), snapshotAt)
  } finally {
    await Promise.all(snapshots.map(([, snapshot]) => snapshot.close()))
  }
  return snapshotAt
}

async function markBooks(file: string, snapshotAt: Instant): Promise<void> {
  if ((await schemaOf(file)) < MARKED_FROM_SCHEMA) return
  await changeCopy(file, markOfCopy(toRfc3339(snapshotAt)))
}

async function copyKey(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  const written = await open(to, 'r+')
  try {
    await written.chmod(0o600)
    await written.sync()
  } finally {
    await written.close()
  }
}

interface Copied {
  readonly begun: Instant
  readonly snapshotAt: Instant
  readonly names: readonly string[]
  readonly draft: string
}

async function checkedManifest(
  options: BackupOptions,
  { snapshotAt, names, draft }: Copied,
): Promise<Omit<Manifest, 'format'>> {
  for (const name of names) {
    const [problem] = await problemsIn(join(draft, name))
    if (problem === undefined) continue
    throw new BackupFault(`the copy of ${name} is damaged (${problem}): see make audit.`)
  }
  const audited = await auditOf(options, draft, snapshotAt)
  const files: BackedUpFile[] = []
  for (const name of names) {
    files.push({ ...(await fileOf(draft, name)), schema: await schemaOf(join(draft, name)) })
  }
  for (const name of options.keys.keys()) files.push({ ...(await fileOf(draft, name)), schema: 0 })
  return {
    version: options.version,
    snapshot_at: toRfc3339(snapshotAt),
    completed_at: toRfc3339(options.clock.now()),
    books: await stateIn(join(draft, FILES.processorDatabase)),
    files,
    audit: audited,
  }
}

async function fileOf(draft: string, name: string): Promise<Omit<BackedUpFile, 'schema'>> {
  const path = join(draft, name)
  return { name, bytes: (await stat(path)).size, sha256: await digestOf(path) }
}

/** The pools' snapshots are older than that of the books, and the rail's is newer. */
async function auditOf(
  { clock, stopwatch }: BackupOptions,
  draft: string,
  snapshotAt: Instant,
): Promise<Manifest['audit']> {
  const books = await openBooks(draft, { now: () => snapshotAt }, { poolsReplacedAt: clock.now() })
  try {
    const report = await audit(books, {
      live: false,
      isRailElsewhere: !books.has('rail'),
      stopwatch,
      onCheck: () => undefined,
    })
    return { clean: report.clean, conclusion: conclusion(report) }
  } finally {
    await books.close()
  }
}

async function stateIn(file: string): Promise<BooksState> {
  const books = await openDatabase(file, { readOnly: true })
  return stateOf(books).finally(() => books.close())
}
