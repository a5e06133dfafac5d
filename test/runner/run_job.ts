/**
 * Runs one job in its own process group.
 *
 * - A job that prints nothing for too long is killed and fails; its total time has no limit.
 * - A job that leaves a process behind fails, and the process is killed.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { inSources } from '../../src/process/source_positions.js'
import { eventually } from '../support/eventually.js'
import { patience } from '../support/patience.js'
import { childrenCpuSeconds } from './children_cpu.js'
import { jobEnvironment } from './job_environment.js'
import type { Job } from './jobs.js'
import { readTap, type TapResult } from './tap_result.js'

const OUTPUTS = join(projectRoot(), '.build/test_output')
/** Milliseconds of an idle machine (support/patience). */
const SILENCE_MAX_MS = 180_000
const POLL_INTERVAL_MS = 250
const EXIT_TIMEOUT_MS = 5_000
/** A check has no assertions: its exit code counts. */
const CHECKED: TapResult = { passed: 0, skipped: [], notApplicable: [], failures: [] }

export interface JobResult extends TapResult {
  /** It was killed, as it printed nothing for too long. */
  readonly wasSilent: boolean
  readonly seconds: number
  /** CPU time of the job and of its processes that it waited for. */
  readonly cpuSeconds: number
}

/** Up to the end of the last job; jobs end one after the other. */
let counted = childrenCpuSeconds()

export interface JobOptions {
  /** The working folder. Default: the root of the repository. */
  readonly folder?: string
  /** Added to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>
  /** Milliseconds of an idle machine without output after which the job is killed. */
  readonly silenceMaxMs?: number
}

export async function runJob(job: Job, options: JobOptions = {}): Promise<JobResult> {
  const { folder = projectRoot(), environment, silenceMaxMs = SILENCE_MAX_MS } = options
  const startedAt = performance.now()
  const child = spawn(job.command, job.arguments, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: jobEnvironment({ ...process.env, ...environment }),
  })
  const group = child.pid ?? 0
  const tap = readTap()
  let output = ''
  let silence = patience(silenceMaxMs)
  let wasSilent = false
  let cpuSeconds = 0
  const watch = setInterval(() => {
    if (!silence.isOver()) return
    wasSilent = true
    signalGroup(group, 'SIGKILL')
  }, POLL_INTERVAL_MS)
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      silence = patience(silenceMaxMs)
      output += text
      if (stream === child.stdout && job.kind === 'test') tap.write(text)
    })
  }
  const exit = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', () => (cpuSeconds = cpuSinceLastEnd()))
    child.on('close', (code, signal) => resolve(String(signal ?? code)))
  })
  clearInterval(watch)

  const result = job.kind === 'test' ? await tap.end() : CHECKED
  const failures = [...result.failures]
  if (wasSilent) failures.push(`    killed: no output for ${silenceMaxMs / 1_000} s`)
  if (exit !== '0' && failures.length === 0) failures.push(`    exit ${exit}\n${lastLines(output)}`)
  if (!(await isGone(group))) {
    failures.push('    left a process behind')
    signalGroup(group, 'SIGKILL')
  }
  if (failures.length > 0) keepOutput(job.name, output)
  const seconds = (performance.now() - startedAt) / 1_000
  return { ...result, failures, wasSilent, seconds, cpuSeconds }
}

function cpuSinceLastEnd(): number {
  const before = counted
  counted = childrenCpuSeconds()
  return counted - before
}

/** @returns whether the group has a process */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    return false
  }
}

async function isGone(group: number): Promise<boolean> {
  const gone = eventually('the group has ended', () => !signalGroup(group, 0), EXIT_TIMEOUT_MS, 50)
  return gone.catch(() => false)
}

const lastLines = (text: string): string =>
  inSources(text)
    .trimEnd()
    .split('\n')
    .slice(-40)
    .map((line) => `    ${line}`)
    .join('\n')

function keepOutput(name: string, output: string): void {
  const file = join(OUTPUTS, `${name}.txt`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, output)
}
