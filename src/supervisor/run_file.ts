/**
 * `run.json` under DATA_DIR: which processes this run has.
 *
 * Owns: the file, and seeing off what a killed supervisor left behind. Does not own: this run's own
 * processes (keeper).
 *
 * R1. A process id alone means nothing once it is free again; with the instant of its start it
 *     names one process.
 * R2. Processes of a former run stop by themselves when their supervisor is gone. The next run
 *     waits for them, since two writers must never meet, and kills what is still there after ten
 *     seconds.
 * R3. What can not be read tells of no process: the machine went down while it was written. Writers
 *     lock their files besides.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { plus, SECOND, type Clock } from '../base/clock.js'

const LEAVE_WITHIN_MS = 10 * SECOND
const LOOK_EVERY_MS = 50

interface Process {
  readonly pid: number
  /** Clock ticks from boot to its start; empty where the system does not tell. */
  readonly started: string
}

interface RunFile {
  readonly supervisor: Process
  readonly processes: Readonly<Record<string, Process>>
}

export function writeRunFile(file: string, pids: ReadonlyMap<string, number>): void {
  const processes: Record<string, Process> = {}
  for (const [name, pid] of pids) processes[name] = processOf(pid)
  const content: RunFile = { supervisor: processOf(process.pid), processes }
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

export function removeRunFile(file: string): void {
  rmSync(file, { force: true })
}

export async function seeOffFormerRun(
  file: string,
  clock: Clock,
  tell: (line: string) => void,
): Promise<void> {
  const left = formerRun(file).filter(([, former]) => isThere(former))
  if (left.length > 0) {
    tell(`waiting for the former run to end: ${left.map(([name]) => name).join(', ')}`)
  }
  const killAt = plus(clock.now(), LEAVE_WITHIN_MS)
  for (const [, former] of left) {
    while (isThere(former)) {
      if (clock.now() > killAt) process.kill(former.pid, 'SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }
  removeRunFile(file)
}

/** See R3. */
function formerRun(file: string): readonly (readonly [name: string, process: Process])[] {
  try {
    const { processes } = JSON.parse(readFileSync(file, 'utf8')) as RunFile
    return Object.entries(processes)
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
