/** Starts compiled programs of `.build/src`, collects their output, and checks for processes. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import type { Run } from '../../src/supervisor/program.js'

export interface CliResult {
  readonly exitCode: number | null
  readonly out: string
  readonly err: string
}

export interface RunningProgram {
  readonly child: ChildProcess
  /** So far. */
  readonly output: { readonly out: string; readonly err: string }
  readonly ended: Promise<CliResult>
}

export function startProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  { endsWithParent = false } = {},
): RunningProgram {
  const child = spawn(process.execPath, [join(projectRoot(), '.build/src', program), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', ...(endsWithParent ? (['ipc'] as const) : [])],
  })
  const output = { out: '', err: '' }
  child.stdout?.on('data', (chunk: Buffer) => (output.out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (output.err += chunk.toString()))
  const ended = once(child, 'close').then(([exitCode]): CliResult => ({
    exitCode: exitCode as number | null,
    ...output,
  }))
  return { child, output, ended }
}

/** Waits until a program of the supervisor serves. @throws the reason why it does not */
export async function untilStarted({ started }: Run): Promise<void> {
  const start = await started
  if (!start.ready) throw new Error(start.why)
}

/** Whether the process runs. An orphan that ended stays a zombie until its new parent reaps it. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
