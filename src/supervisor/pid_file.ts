/**
 * `run.json` under DATA_DIR: the processes of the current run; terminates those of a stale run.
 *
 * - A process is identified by its id and start time, since ids are reused. It belongs to this
 *   folder only if its command line or environment names the folder: a copied file lists the
 *   processes of another folder.
 * - Processes stop by themselves when their supervisor is killed. The next run waits for them,
 *   because there must be one writer, and kills the remaining ones after ten seconds.
 * - An unreadable file (power cut during the write) counts as no run; database locks still protect
 *   the data.
 * - While the supervisor in the file runs, its processes are left alone, even if its lock file was
 *   deleted.
 */
import { readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { plus, SECOND, type Clock } from '../base/clock.js'
import { writeSecretFile } from '../files/secret_file.js'
import { StartupError } from './startup_error.js'

const EXIT_TIMEOUT_MS = 10 * SECOND
const POLL_INTERVAL_MS = 50

export const RESTART_SIGNAL = 'SIGUSR2'

interface Process {
  readonly pid: number
  /** Start time in clock ticks since boot; empty when unknown. */
  readonly started: string
}

interface PidFile {
  /** Absent in files of older versions. */
  readonly data_dir?: string
  readonly supervisor: Process
  /** The signal that begins a rolling restart. Absent means that it would end this supervisor. */
  readonly restart_signal?: NodeJS.Signals
  readonly processes: Readonly<Record<string, Process>>
}

export function writePidFile(file: string, pids: ReadonlyMap<string, number>): void {
  const processes: Record<string, Process> = {}
  for (const [name, pid] of pids) processes[name] = processOf(pid)
  const content: PidFile = {
    data_dir: folderOf(file),
    supervisor: processOf(process.pid),
    restart_signal: RESTART_SIGNAL,
    processes,
  }
  writeSecretFile(file, `${JSON.stringify(content, null, 2)}\n`)
}

/**
 * @returns whether that supervisor still runs
 * @throws StartupError without a running supervisor that knows rolling restarts
 */
export function requestRollingRestart(file: string): () => boolean {
  const run = runIn(file)
  if (run === undefined || !isRunning(run.supervisor)) {
    throw new StartupError(`No stack runs in ${dirname(file)}.`)
  }
  if (run.restart_signal === undefined) {
    throw new StartupError('The supervisor is of an older version: stop and start the stack.')
  }
  const { supervisor } = run
  process.kill(supervisor.pid, run.restart_signal)
  return () => isRunning(supervisor)
}

/** Processes of this folder that ran when they were looked for. */
export interface StackRun {
  /** Names and ids of those that still run, the supervisor last. */
  running(): readonly string[]
  /** To its supervisor, which stops the others. Without one they stop by themselves. */
  requestStop(): void
}

/** Undefined means that nothing of this folder runs. */
export function findRun(file: string): StackRun | undefined {
  const run = runIn(file)
  if (run === undefined) return undefined
  const folder = folderOf(file)
  const own = Object.entries(run.processes).filter(([, each]) => belongsTo(folder, each))
  const isSupervised = isInUse(run, folder, own.length > 0)
  const all = isSupervised ? Object.entries({ ...run.processes, supervisor: run.supervisor }) : own
  if (all.length === 0) return undefined
  return {
    running: () =>
      all.filter(([, each]) => isRunning(each)).map(([name, { pid }]) => `${name} (${pid})`),
    requestStop: () => {
      if (isSupervised && isRunning(run.supervisor)) process.kill(run.supervisor.pid, 'SIGTERM')
    },
  }
}

export function removePidFile(file: string): void {
  rmSync(file, { force: true })
}

/** @throws StartupError when the supervisor of the former run still runs */
export async function terminateStaleRun(
  file: string,
  clock: Clock,
  log: (line: string) => void,
): Promise<void> {
  const folder = folderOf(file)
  const run = runIn(file)
  const remaining = Object.entries(run?.processes ?? {}).filter(([, stale]) =>
    belongsTo(folder, stale),
  )
  if (run !== undefined && isInUse(run, folder, remaining.length > 0)) {
    throw new StartupError(
      `DATA_DIR=${folder} is in use by the stack of process ${run.supervisor.pid}, ` +
        'whose lock file was deleted: stop that stack.',
    )
  }
  if (remaining.length > 0) {
    log(`waiting for processes of the previous run: ${remaining.map(([name]) => name).join(', ')}`)
  }
  const killAt = plus(clock.now(), EXIT_TIMEOUT_MS)
  for (const [, stale] of remaining) {
    while (isRunning(stale)) {
      if (clock.now() > killAt) process.kill(stale.pid, 'SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
    }
  }
  removePidFile(file)
}

function runIn(file: string): PidFile | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as PidFile | null) ?? undefined
  } catch {
    return undefined
  }
}

function isInUse(
  { data_dir, supervisor }: PidFile,
  folder: string,
  hasProcesses: boolean,
): boolean {
  if (supervisor.pid === process.pid || !isRunning(supervisor)) return false
  return data_dir === folder || (data_dir === undefined && hasProcesses)
}

const folderOf = (file: string): string => realpathSync(dirname(file))

/** Whether it runs, and for this folder. */
function belongsTo(folder: string, stale: Process): boolean {
  if (!isRunning(stale)) return false
  const names = (path: string): boolean => isAbsolute(path) && realPathOf(path) === folder
  const [environment, command] = [
    procStrings(stale.pid, 'environ'),
    procStrings(stale.pid, 'cmdline'),
  ]
  return (
    environment.some(
      (text) => text.startsWith(DATA_DIR_IS) && names(text.slice(DATA_DIR_IS.length)),
    ) || command.some((text) => isAbsolute(text) && names(dirname(text)))
  )
}

const DATA_DIR_IS = 'DATA_DIR='

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Empty when the process has ended or is not readable. */
function procStrings(pid: number, what: 'environ' | 'cmdline'): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8').split('\0')
  } catch {
    return []
  }
}

const processOf = (pid: number): Process => ({ pid, started: startOf(pid) })

/** Field 22 of /proc/PID/stat; field 2 is a name in parentheses that may hold any byte. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return afterName[0] === 'Z' ? '' : (afterName[19] ?? '')
  } catch {
    return ''
  }
}

const isRunning = ({ pid, started }: Process): boolean => started !== '' && startOf(pid) === started
