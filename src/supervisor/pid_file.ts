/**
 * `run.json` under DATA_DIR: which processes this run has.
 *
 * Owns: the file, and seeing off what a killed supervisor left behind. Does not own: this run's own
 * processes (managed_process).
 *
 * - A process id alone means nothing once it is free again; with the instant of its start it
 *   names one process. It is of a former run of this folder only when its command line or its
 *   environment names this folder: a file that was copied tells of another folder's processes.
 * - Processes of a former run stop by themselves when their supervisor is gone. The next run
 *   waits for them, since two writers must never meet, and kills what is still there after ten
 *   seconds.
 * - What cannot be read tells of no process: the machine went down while it was written. Writers
 *   lock their files besides.
 * - While the supervisor of the file runs, whatever became of its lock, nothing of it is touched.
 */
import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { plus, SECOND, type Clock } from '../base/clock.js'
import { StartupError } from './startup_error.js'

const LEAVE_WITHIN_MS = 10 * SECOND
const LOOK_EVERY_MS = 50

interface Process {
  readonly pid: number
  /** Clock ticks from boot to its start; empty where the system does not tell. */
  readonly started: string
}

interface PidFile {
  /** Left out by older versions. */
  readonly data_dir?: string
  readonly supervisor: Process
  readonly processes: Readonly<Record<string, Process>>
}

export function writePidFile(file: string, pids: ReadonlyMap<string, number>): void {
  const processes: Record<string, Process> = {}
  for (const [name, pid] of pids) processes[name] = processOf(pid)
  const content: PidFile = {
    data_dir: folderOf(file),
    supervisor: processOf(process.pid),
    processes,
  }
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
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
  const run = staleRun(file)
  const left = Object.entries(run?.processes ?? {}).filter(([, stale]) => isOf(folder, stale))
  if (run !== undefined && isInUse(run, folder, left.length > 0)) {
    throw new StartupError(
      `DATA_DIR=${folder} is in use by the stack of process ${run.supervisor.pid}, ` +
        'whose lock file is gone: stop that one.',
    )
  }
  if (left.length > 0) {
    log(`waiting for the former run to end: ${left.map(([name]) => name).join(', ')}`)
  }
  const killAt = plus(clock.now(), LEAVE_WITHIN_MS)
  for (const [, stale] of left) {
    while (isThere(stale)) {
      if (clock.now() > killAt) process.kill(stale.pid, 'SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }
  removePidFile(file)
}

/** See the file's header. */
function staleRun(file: string): PidFile | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as PidFile | null) ?? undefined
  } catch {
    return undefined
  }
}

function isInUse({ data_dir, supervisor }: PidFile, folder: string, hasLeft: boolean): boolean {
  if (supervisor.pid === process.pid || !isThere(supervisor)) return false
  return data_dir === folder || (data_dir === undefined && hasLeft)
}

const folderOf = (file: string): string => realpathSync(dirname(file))

/** It runs, and it runs for this folder. */
function isOf(folder: string, stale: Process): boolean {
  if (!isThere(stale)) return false
  const names = (path: string): boolean => isAbsolute(path) && realPathOf(path) === folder
  const [environment, command] = [textsOf(stale.pid, 'environ'), textsOf(stale.pid, 'cmdline')]
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

/** Empty when the process is gone, or somebody else's. */
function textsOf(pid: number, what: 'environ' | 'cmdline'): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8').split('\0')
  } catch {
    return []
  }
}

const processOf = (pid: number): Process => ({ pid, started: startOf(pid) })

/** Field 22 of Linux' stat; the second field is a name in brackets that may hold anything. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return afterName[0] === 'Z' ? '' : (afterName[19] ?? '')
  } catch {
    return ''
  }
}

const isThere = ({ pid, started }: Process): boolean => started !== '' && startOf(pid) === started
