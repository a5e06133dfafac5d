/**
 * A whole stack for a test: the supervisor with all its processes, on free ports and a folder of
 * its own.
 *
 * Owns: looking after it. Does not own: starting it (operations/ephemeral_stack), clients
 * (support/partner, support/receiver).
 *
 * It runs what is compiled: `.build/` is there wherever a compiled test runs.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEphemeralStack } from '../../src/operations/ephemeral_stack.js'
import { isServing, type Sandbox } from '../../src/operations/sandbox.js'
import { eventually } from './eventually.js'
import { patience } from './patience.js'

const SERVING_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 100

export interface StackOptions {
  /** Kept after `stop` when given; else a temporary folder that goes with the stack. */
  readonly dataDir?: string
  /** Settings by name; ports are free ones unless set here. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface RunningStack {
  readonly baseUrl: string
  readonly sandbox: Sandbox
  readonly dataDir: string
  /** `nats`, `rail`, `processor`, `webhooks`, `gateway` (or `gateway-1` …). */
  pidOf(process: string): number
  kill(process: string, signal?: NodeJS.Signals): void
  /** All processes serve, after a kill for instance. */
  untilServing(): Promise<void>
  /** What the supervisor printed so far. */
  output(): string
  logOf(process: string): string
  /** Stops it as an operator would. @returns the supervisor's exit code */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export async function startStack(options: StackOptions = {}): Promise<RunningStack> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'causeway-test-')))
  const stack = startEphemeralStack(dataDir, options.settings)
  const sandbox = await stack.ready
  const pidOf = (name: string): number => pidIn(join(dataDir, 'run.json'), name)
  return {
    baseUrl: sandbox.base_url,
    sandbox,
    dataDir,
    pidOf,
    kill: (name, signal = 'SIGKILL') => process.kill(pidOf(name), signal),
    untilServing: async () => {
      await eventually('all processes serve', () => isServing(sandbox), SERVING_WITHIN_MS)
    },
    output: stack.output,
    logOf: (name) => readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8'),
    stop: async (signal = 'SIGTERM') => {
      stack.process.kill(signal)
      const exitCode = await stack.ended
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
      return exitCode
    },
  }
}

/**
 * Starts one that is expected to fail, and stops one that does not.
 *
 * @returns its exit code and what it printed
 */
export async function runUntilExit(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | null; output: string }> {
  const stack = startEphemeralStack(dataDir, settings)
  const waits = patience(SERVING_WITHIN_MS)
  const looking = setInterval(() => {
    if (waits.isOver()) stack.process.kill('SIGTERM')
  }, LOOK_EVERY_MS)
  const exitCode = await stack.ended
  clearInterval(looking)
  return { exitCode, output: stack.output() }
}

interface RunFile {
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

export function pidIn(runFile: string, name: string): number {
  const found = existsSync(runFile)
    ? (JSON.parse(readFileSync(runFile, 'utf8')) as RunFile).processes[name]?.pid
    : undefined
  if (found === undefined) throw new Error(`no process ${name} in ${runFile}`)
  return found
}
