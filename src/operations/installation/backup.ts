/**
 * `backup DIR`: a whole, checked copy of the databases of DATA_DIR, beside a running stack or of a
 * stopped one; with `--every` again and again, as a service of its own.
 *
 * Does not own: how a backup is made and checked (src/backup).
 *
 * - The exit code is 0 only when the backup is whole and its audit is clean.
 * - Each backup is in the action log when the processor is reached, and `backup.json` in DATA_DIR
 *   names the newest one for the metric of its age.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Writable } from 'node:stream'
import { backupsIn, openBackupFolder, type BackupFolder } from '../../backup/backups.js'
import type { MadeBackup } from '../../backup/make_backup.js'
import { backUpServer } from '../../backup/server_backup.js'
import { BackupFault, digestOf, KEY_FILES, MANIFEST, type Manifest } from '../../backup/manifest.js'
import { parseInterval, runEvery } from '../../backup/schedule.js'
import { writeLastBackup } from '../../files/backup_marks.js'
import { SECOND, systemClock, toRfc3339, type Instant } from '../../base/clock.js'
import { freeBytesOf, MIB } from '../../files/free_space.js'
import { projectRoot } from '../../base/project_root.js'
import { dataFile, storeUrl, type Settings } from '../../settings/settings.js'
import { FILES } from '../../base/subjects.js'
import { parseStoreUrl } from '../../store/postgres/connection.js'
import { CommandFault, type LocalCommand, type Report } from '../cli/command.js'
import { opsLine } from '../cli/command_text.js'
import { NO_LOG, openGrpcTls, type GrpcTls } from '../../grpc/tls.js'
import { connectRecovery, type RecoveryClient } from '../calls/operator_client.js'
import { operatorAccess } from '../calls/operator_token.js'
import type { Flags } from '../cli/options.js'
import { findSandbox } from '../calls/sandbox.js'
import { serverTools } from './server_tools.js'

export const backup: LocalCommand = {
  usage: 'backup DIR',
  about: 'copy and check the databases; DIR gets a folder for each backup',
  options: ['every', 'keep', 'with-keys'],
  runLocally: async (_paint, settings, { args: [folder = ''], flags, out }) => {
    const given = settings()
    const schedule = scheduleIn(flags)
    // It may take the time that the processes of the stack leave.
    process.umask(0o077)
    setPriority(constants.priority.PRIORITY_LOW)
    const stop = stopSignal()
    const into = await openBackupFolder(folder)
    const record = recordIn(given)
    const runOne = (): Promise<Run> => backUp(given, into, { flags, stop, record })
    try {
      if (schedule === undefined) return reportOf(await runOne())
      return await repeat({ ...schedule, record, runOne, into, stop, out })
    } finally {
      await into.release()
    }
  },
}

interface Schedule {
  readonly everyMs: number
  readonly keep: number
}

const KEEP_MAX = 100_000

function scheduleIn({ every, keep }: Flags): Schedule | undefined {
  if (every === undefined) {
    if (keep !== undefined) throw new CommandFault('--keep needs --every.')
    return undefined
  }
  const everyMs = parseInterval(every)
  if (everyMs === undefined) throw new CommandFault('--every is e.g. 15m, 1h or 1d.')
  const kept = Number(keep ?? '48')
  if (!(Number.isInteger(kept) && kept >= 1 && kept <= KEEP_MAX)) {
    throw new CommandFault('--keep is the number of backups that stay, at least 1.')
  }
  return { everyMs, keep: kept }
}

function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => controller.abort())
  }
  return controller.signal
}

interface Run extends MadeBackup {
  readonly isOnDiskOfBooks: boolean
  /** Why it is not in the action log. Undefined if it is. */
  readonly unrecorded: string | undefined
}

async function backUp(
  settings: Settings,
  into: BackupFolder,
  {
    flags,
    stop,
    record,
  }: { readonly flags: Flags; readonly stop: AbortSignal; readonly record: RecordOutcome },
): Promise<Run> {
  const common = { into, version: versionOfPackage(), clock: systemClock, freeBytes: freeBytesOf }
  const url = storeUrl(settings, settings.DATA_DIR)
  // With the audit: no other command loads it.
  const { makeBackup } = await import('../../backup/make_backup.js')
  const made: MadeBackup =
    url === ''
      ? await makeBackup({
          ...common,
          dataDir: dataFile(settings, ''),
          keys: flags['with-keys'] === true ? keysOf(settings) : new Map(),
          stopwatch: () => performance.now(),
          isStopped: () => stop.aborted,
        })
      : await backUpServer({
          ...common,
          targets: parseStoreUrl(url),
          caFile: caFileOf(url),
          schema: settings.SHARD,
          tools: serverTools,
          signal: stop,
        })
  const snapshotAt = Date.parse(made.manifest.snapshot_at)
  writeLastBackup(dataFile(settings, FILES.lastBackup), { snapshotAt, folder: made.folder })
  const { epoch, batch } = made.manifest.books
  const digest = await digestOf(join(made.folder, MANIFEST))
  const verdict = verdictOf(made.manifest.audit)
  const outcome = `epoch ${epoch}, batch ${batch}, manifest sha256 ${digest}, ${verdict}`
  return {
    ...made,
    isOnDiskOfBooks: url === '' && isOneDisk(made.folder, settings.DATA_DIR),
    unrecorded: await record(basename(made.folder), outcome),
  }
}

/** The tools run in another folder. */
function caFileOf(url: string): string | undefined {
  const file = new URLSearchParams(url.split('?')[1]).get('sslrootcert')
  return file === null ? undefined : resolve(file)
}

const isOneDisk = (one: string, other: string): boolean => statSync(one).dev === statSync(other).dev

const verdictOf = ({ clean }: Manifest['audit']): string =>
  clean === undefined ? 'not audited' : clean ? 'audit clean' : 'AUDIT BROKEN'

/** Those that exist, by their names in a DATA_DIR. */
function keysOf(settings: Settings): ReadonlyMap<string, string> {
  const pathOf = (name: string): string =>
    name === FILES.masterKey && settings.MASTER_KEY_FILE !== ''
      ? settings.MASTER_KEY_FILE
      : dataFile(settings, name)
  const paths = KEY_FILES.map((name) => [name, pathOf(name)] as const)
  return new Map(paths.filter(([, path]) => existsSync(path)))
}

function versionOfPackage(): string {
  const text = readFileSync(join(projectRoot(), 'package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

/** Records an outcome in the action log. @returns why it is not there */
type RecordOutcome = (name: string, outcome: string) => Promise<string | undefined>

/** A backup is a good one without its record, so no fault of that is thrown. */
function recordIn(settings: Settings): RecordOutcome {
  /** Opened once, as its files are read again every few seconds from then on. */
  let tls: GrpcTls | undefined
  return async (name, outcome) => {
    let recovery: RecoveryClient | undefined
    try {
      const stack = findSandbox(settings)
      if (stack === undefined && settings.OPERATOR_TOKEN_FILE === '') return 'no stack has run here'
      tls ??= openGrpcTls(settings, NO_LOG)
      recovery = connectRecovery(operatorAccess(stack, settings, tls), systemClock)
      const actor = { name: '', reason: 'backup' }
      await recovery.call('NoteBackup', { actor, backup: name, outcome })
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      recovery?.close()
    }
  }
}

function reportOf(run: Run): Report {
  const { manifest, folder, took, isOnDiskOfBooks, unrecorded } = run
  return {
    value: { folder, ...manifest, unrecorded: unrecorded ?? null },
    lines: [
      lineOf(run),
      ...(took === undefined ? [] : [`copied in ${inSeconds(took)}`]),
      ...manifest.audit.conclusion.split('\n').slice(isBroken(run) ? 0 : -1),
      ...(hasKeys(run) ? ['It has the keys: who reads it reads every secret.'] : [KEYS_APART]),
      ...(isOnDiskOfBooks ? [ONE_DISK] : []),
      ...(unrecorded === undefined ? [] : [`Not in the action log: ${unrecorded}`]),
      ...(isBroken(run) ? ['THE AUDIT IS BROKEN: run make audit before anything else.'] : []),
      `restore: DATA_DIR=NEW ${opsLine('restore', folder)}`,
    ],
    exitCode: isBroken(run) ? 1 : 0,
  }
}

const KEYS_APART = 'Without keys: keep master.key, rail.key and the tokens elsewhere.'

const ONE_DISK = 'On the disk of the books, which can take both: copy it to another machine.'

const hasKeys = ({ manifest }: MadeBackup): boolean =>
  manifest.files.some(({ name }) => KEY_FILES.includes(name))

const isBroken = ({ manifest }: Run): boolean => manifest.audit.clean === false

const inSeconds = ({ copying, checking }: NonNullable<MadeBackup['took']>): string =>
  `${(copying / SECOND).toFixed(1)} s, checked in ${(checking / SECOND).toFixed(1)} s`

function lineOf({ folder, manifest }: MadeBackup): string {
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  const { epoch, batch } = manifest.books
  return (
    `backup ${folder}: ${manifest.files.length} files, ${(bytes / MIB).toFixed(1)} MB, ` +
    `epoch ${epoch}, batch ${batch}, as of ${manifest.snapshot_at}`
  )
}

interface Repeated extends Schedule {
  readonly record: RecordOutcome
  readonly runOne: () => Promise<Run>
  readonly into: BackupFolder
  readonly stop: AbortSignal
  readonly out: Writable
}

async function repeat(options: Repeated): Promise<Report> {
  const { everyMs, keep, record, runOne, into, stop, out } = options
  const print = (line: string): void => void out.write(`${toRfc3339(systemClock.now())} ${line}\n`)
  await runEvery({
    everyMs,
    clock: systemClock,
    pauseUntil: (at) => pauseUntil(at, stop),
    isStopped: () => stop.aborted,
    run: async () => {
      const run = await runOne()
      print(lineOf(run))
      if (run.unrecorded !== undefined) print(`not in the action log: ${run.unrecorded}`)
      const newest = { folder: run.folder, booksId: run.manifest.books.id }
      for (const folder of into.prune(newest, keep)) print(`removed ${folder}`)
      if (isBroken(run)) {
        throw new BackupFault(`${run.folder} has a broken audit: run make audit.`)
      }
    },
    onFailure: async (error, next) => {
      const reason = error instanceof Error ? error.message : String(error)
      print(`BACKUP FAILED: ${reason} The next one is at ${toRfc3339(next)}.`)
      await record(toRfc3339(systemClock.now()), `failed: ${reason}`.slice(0, 500))
    },
  })
  const kept = backupsIn(into.path).length
  return { value: { stopped: true, kept }, lines: [`stopped; ${kept} backups in ${into.path}`] }
}

async function pauseUntil(at: Instant, signal: AbortSignal): Promise<void> {
  await pause(Math.max(0, at - systemClock.now()), undefined, { signal }).catch(() => undefined)
}
