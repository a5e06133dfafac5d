/**
 * A whole stack for a test: the supervisor with all its processes, on free ports and a folder of
 * its own.
 *
 * Owns: the supervisor's process. Does not own: clients (support/partner, support/receiver).
 *
 * Used from the compiled tree: `.build/` must be there, as it is wherever a compiled test runs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/protos.js'
import { isServing, readSandbox, type Sandbox } from '../../src/operations/sandbox.js'
import { eventually } from './eventually.js'

const READY_WITHIN_MS = 60_000

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
  /** Of the supervisor. */
  readonly pid: number
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

const FREE_PORTS = { HTTP_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', NATS_PORT: '0' }

export async function startStack(options: StackOptions = {}): Promise<RunningStack> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'causeway-test-')))
  const supervisor = spawnSupervisor(dataDir, options.settings ?? {})
  const exited = once(supervisor.process, 'exit') as Promise<[number | null]>

  await eventually(
    'the stack is ready',
    () => {
      const { exitCode } = supervisor.process
      if (exitCode !== null) throw new Error(`exit code ${exitCode}: ${supervisor.output()}`)
      return supervisor.output().includes('ready: ')
    },
    READY_WITHIN_MS,
  )
  const sandbox = readSandbox(join(dataDir, 'sandbox.json'))
  const pidOf = (name: string): number => pidIn(join(dataDir, 'run.json'), name)

  return {
    baseUrl: sandbox.base_url,
    sandbox,
    dataDir,
    pid: supervisor.process.pid ?? 0,
    pidOf,
    kill: (name, signal = 'SIGKILL') => process.kill(pidOf(name), signal),
    untilServing: async () => {
      await eventually('all processes serve', () => isServing(sandbox), READY_WITHIN_MS)
    },
    output: supervisor.output,
    logOf: (name) => readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8'),
    stop: async (signal = 'SIGTERM') => {
      supervisor.process.kill(signal)
      const [exitCode] = await exited
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
      return exitCode
    },
  }
}

/** Starts one that is expected to fail. @returns its exit code and what it printed */
export async function startInVain(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | null; output: string }> {
  const supervisor = spawnSupervisor(dataDir, settings)
  const [exitCode] = (await once(supervisor.process, 'close')) as [number | null]
  return { exitCode, output: supervisor.output() }
}

/** Outside of the project's folder, so that nobody's `.env` takes part. */
function spawnSupervisor(dataDir: string, settings: Readonly<Record<string, string>>) {
  const main = join(projectRoot(), '.build/src/supervisor/main.js')
  const child = spawn(process.execPath, [main], {
    cwd: tmpdir(),
    env: { ...process.env, ...FREE_PORTS, ...settings, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const collect = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  return { process: child, output: () => output }
}

interface RunFile {
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

function pidIn(runFile: string, name: string): number {
  const found = existsSync(runFile)
    ? (JSON.parse(readFileSync(runFile, 'utf8')) as RunFile).processes[name]?.pid
    : undefined
  if (found === undefined) throw new Error(`no process ${name} in ${runFile}`)
  return found
}
