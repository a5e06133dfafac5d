/**
 * A whole stack for a test: the supervisor with all its processes, on free ports and a temporary
 * folder. It runs the compiled code in `.build/`.
 *
 * Does not own: starting it (operations/demo/ephemeral_stack), its clients (support/partner,
 * support/operator_cli, support/receiver).
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { startEphemeralStack } from '../../src/operations/demo/ephemeral_stack.js'
import { isServing, type Sandbox } from '../../src/operations/calls/sandbox.js'
import { storeSettings } from './books.js'
import { eventually } from './eventually.js'
import { operatorCli, type OperatorCli } from './operator_cli.js'
import { partnerOf, type Partner } from './partner.js'
import { patience } from './patience.js'
import { receiverOf, type TestReceiver } from './receiver.js'

const SERVING_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 100

export interface StackOptions {
  /** It stops when this test ends, and its receivers close. The test has no time limit. */
  readonly t?: Pick<Test, 'teardown' | 'setTimeout'>
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
  /** The demo partner. */
  readonly partner: Partner
  /** The first operator. */
  readonly ops: OperatorCli
  /** Gets the events of the demo partner. */
  receiver(answer?: Parameters<typeof receiverOf>[1]): Promise<TestReceiver>
  /** `nats`, `rail`, `processor`, `webhooks`, `gateway` (or `gateway-1` …). */
  pidOf(process: string): number
  kill(process: string, signal?: NodeJS.Signals): void
  /** Resolves when all processes serve. */
  untilServing(): Promise<void>
  /** Output of the supervisor so far. */
  output(): string
  /** Metrics of all processes, as text. */
  metrics(): Promise<string>
  /** Resolves with what `/readyz` says once it serves in this mode. */
  untilMode(mode: string, withinMs?: number): Promise<object>
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
  const partner = partnerOf(sandbox)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    stack.process.kill(signal)
    const exitCode = await stack.ended
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
    return exitCode
  }
  options.t?.setTimeout(0)
  options.t?.teardown(() => stop())
  const readyz: RunningStack['readyz'] = async () => {
    const answer = await fetch(`${sandbox.ops_url}/readyz`)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  return {
    baseUrl: sandbox.base_url,
    ...{ sandbox, dataDir, partner, ops: operatorCli(dataDir) },
    receiver: async (answer) => {
      const receiver = await receiverOf(partner, answer)
      options.t?.teardown(() => receiver.close())
      return receiver
    },
    pidOf,
    kill: (name, signal = 'SIGKILL') => process.kill(pidOf(name), signal),
    untilServing: async () => {
      await eventually('all processes serve', () => isServing(sandbox), SERVING_WITHIN_MS)
    },
    output: stack.output,
    metrics: async () => (await fetch(`${sandbox.ops_url}/metrics`)).text(),
    readyz,
    untilMode: (mode, withinMs = SERVING_WITHIN_MS) =>
      eventually(
        `mode ${mode}`,
        async () => {
          const { status, body } = await readyz()
          return status === 200 && body['mode'] === mode && body
        },
        withinMs,
      ),
    logOf: (name) => readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8'),
    stop,
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
