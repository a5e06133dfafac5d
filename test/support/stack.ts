/**
 * A whole stack for a test: the supervisor with all its processes, on free ports and a temporary
 * folder. It runs the compiled code in `.build/`.
 *
 * Does not own: starting it (operations/demo/ephemeral_stack), clients (support/partner,
 * support/receiver).
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEphemeralStack } from '../../src/operations/demo/ephemeral_stack.js'
import { isServing, type Sandbox } from '../../src/operations/calls/sandbox.js'
import { storeSettings } from './books.js'
import { eventually } from './eventually.js'
import { patience } from './patience.js'

const SERVING_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 100

export interface StackOptions {
  /** Kept after `stop`. Default: a temporary folder that `stop` removes. */
  readonly dataDir?: string
  /** Settings by name. Default: free ports. */
  readonly settings?: Readonly<Record<string, string>>
  /** A built checkout. Default: this one. */
  readonly root?: string
}

export interface RunningStack {
  readonly baseUrl: string
  readonly sandbox: Sandbox
  readonly dataDir: string
  /** `nats`, `rail`, `processor`, `webhooks`, `gateway` (or `gateway-1` …). */
  pidOf(process: string): number
  kill(process: string, signal?: NodeJS.Signals): void
  /** Resolves when all processes serve. */
  untilServing(): Promise<void>
  /** Output of the supervisor so far. */
  output(): string
  /** Metrics of all processes, as text. */
  metrics(): Promise<string>
  readyz(): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>
  logOf(process: string): string
  /** Signals the supervisor. @returns its exit code */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export async function startStack(options: StackOptions = {}): Promise<RunningStack> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'causeway-test-')))
  const settings = { ...storeSettings(dataDir), ...options.settings }
  const stack = startEphemeralStack(dataDir, settings, options.root)
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
    metrics: async () => (await fetch(`${sandbox.ops_url}/metrics`)).text(),
    readyz: async () => {
      const answer = await fetch(`${sandbox.ops_url}/readyz`)
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    },
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
 * Starts a stack that is expected to exit by itself; stops it after the deadline.
 *
 * @returns its exit code and its output
 */
export async function runUntilExit(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | null; output: string }> {
  const stack = startEphemeralStack(dataDir, { ...storeSettings(dataDir), ...settings })
  const deadline = patience(SERVING_WITHIN_MS)
  const watch = setInterval(() => {
    if (deadline.isOver()) stack.process.kill('SIGTERM')
  }, LOOK_EVERY_MS)
  const exitCode = await stack.ended
  clearInterval(watch)
  return { exitCode, output: stack.output() }
}

/** The processes of a stack, by name. @param runFile its `run.json` */
export function processesIn(runFile: string): Readonly<Record<string, { readonly pid: number }>> {
  const { processes } = JSON.parse(readFileSync(runFile, 'utf8')) as {
    readonly processes: ReturnType<typeof processesIn>
  }
  return processes
}

export function pidIn(runFile: string, name: string): number {
  const found = existsSync(runFile) ? processesIn(runFile)[name]?.pid : undefined
  if (found === undefined) throw new Error(`no process ${name} in ${runFile}`)
  return found
}
