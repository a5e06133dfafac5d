/** A process of the service without a supervisor: settings, logs, signals, exit code. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { freePort } from '../../src/supervisor/ports.js'
import { eventually } from './eventually.js'

const READY_WITHIN_MS = 60_000

export interface SingleProcess {
  readonly pid: number
  /** `http://…` of its health and metrics. */
  readonly ops: string
  /** Standard output and standard error so far. */
  output(): string
  isReady(): Promise<boolean>
  /** What `/readyz` says, with its status. */
  readyz(): Promise<Readonly<Record<string, unknown>>>
  metrics(): Promise<string>
  untilReady(): Promise<void>
  /** The exit code; null after a signal. */
  readonly ended: Promise<number | null>
  /** @returns the exit code; null after a signal */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

export interface Ended {
  readonly exitCode: number | null
  /** Standard error. */
  readonly err: string
}

/** Runs a process that is expected to end by itself. */
export async function runProcess(entry: string, settings: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(process.execPath, [join(projectRoot(), '.build', entry)], {
    env: { PATH: process.env['PATH'], DOT_ENV: '', ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: READY_WITHIN_MS,
    killSignal: 'SIGKILL',
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  process.off('exit', kill)
  return { exitCode, err }
}

/** @param entry compiled main file: `gateway/main.js` */
export async function startProcess(
  t: Test,
  entry: string,
  settings: NodeJS.ProcessEnv,
): Promise<SingleProcess> {
  const opsPort = await freePort('127.0.0.1')
  const child = spawn(process.execPath, [join(projectRoot(), '.build', entry)], {
    env: { PATH: process.env['PATH'], DOT_ENV: '', OPS_PORT: String(opsPort), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close') as Promise<[number | null]>
  // A test that throws outside its subtests runs no teardown.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  t.teardown(async () => {
    process.off('exit', kill)
    kill()
    await exited
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  }
  const ops = `http://127.0.0.1:${opsPort}`
  const isReady = async (): Promise<boolean> => {
    const answer = await fetch(`${ops}/readyz`).catch(() => undefined)
    return answer?.ok === true
  }
  return {
    pid: child.pid ?? 0,
    ops,
    output: () => printed,
    readyz: async () => {
      const answer = await fetch(`${ops}/readyz`)
      return { status: answer.status, ...((await answer.json()) as object) }
    },
    metrics: async () => (await fetch(`${ops}/metrics`)).text(),
    ended: exited.then(([code]) => code),
    isReady,
    untilReady: async () => {
      await eventually(
        `${entry} is ready`,
        () => {
          if (child.exitCode !== null) throw new Error(`${entry} ended: ${printed}`)
          return isReady()
        },
        READY_WITHIN_MS,
      )
    },
    end: async (signal = 'SIGTERM') => {
      child.kill(signal)
      const [code] = await exited
      return code
    },
  }
}
