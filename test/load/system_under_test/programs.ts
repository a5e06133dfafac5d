/**
 * The programs that are measured, each as its own process.
 *
 * Owns: their settings and their end. Does not own: how a stack starts
 * (operations/ephemeral_stack).
 *
 * - They run with default settings but for what is named here: neither `.env` nor the settings of
 *   the shell that starts the measurement reach them.
 * - `stop` ends all that was started, also what does not serve yet.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { projectRoot } from '../../../src/base/protos.js'
import { SETTINGS, type SettingName } from '../../../src/base/settings.js'
import { FILES } from '../../../src/base/subjects.js'
import { FREE_PORTS, startEphemeralStack } from '../../../src/operations/ephemeral_stack.js'
import { readSandbox, type Sandbox } from '../../../src/operations/sandbox.js'
import { freePort } from '../../../src/supervisor/ports.js'
import type { Watched } from '../measurement/usage.js'

export interface Programs {
  startStack(options?: StackOptions): Promise<Stack>
  /** As many as the stack has gateways, for the stack's partner. */
  startNullBackendGateway(stack: Stack, gateways?: number): Promise<Running>
  /** The same gateway and processor with unary calls and a commit for each. */
  startBaseline(): Promise<Stack>
  /** The last one started ends first. */
  stop(): Promise<void>
}

export type LoadSettings = Partial<Record<SettingName, string>>

export interface StackOptions {
  readonly settings?: LoadSettings
  /** Left out: an empty one, which is there once the folder is removed. */
  readonly dataDir?: string
  /** A built checkout of another revision. */
  readonly root?: string
  /** What each of its Node processes is given beside its own flags. */
  readonly nodeOptions?: string
}

export interface Running {
  /** Where it serves HTTP. */
  readonly address: Address
  /** As of now: a stack starts a process that died anew. */
  processes(): readonly Watched[]
}

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Stack extends Running {
  readonly sandbox: Sandbox
  readonly dataDir: string
  stop(): Promise<void>
}

const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback]),
)
/**
 * No limit is on, receivers are on this machine, and the bank pays at once: what it takes is not
 * ours.
 */
const SETTINGS_OF_ALL = {
  ...DEFAULTS,
  ...FREE_PORTS,
  RATE_LIMIT: 'off',
  RAIL_DELAY_MS: '0',
  WEBHOOK_ALLOW_PRIVATE: 'true',
}

/** `folder` is where they run and keep their data. */
export function createPrograms(folder: string): Programs {
  const children: ChildProcess[] = []
  let stacks = 0

  const start = (main: string, flags: readonly string[]): ChildProcess => {
    const arguments_ = ['--enable-source-maps', join(projectRoot(), '.build', main), ...flags]
    const child = spawn(process.execPath, arguments_, {
      cwd: folder,
      env: { ...process.env, ...SETTINGS_OF_ALL },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    return child
  }

  return {
    startStack: async ({
      settings = {},
      dataDir = join(folder, `data-${++stacks}`),
      root,
      nodeOptions = '',
    } = {}) => {
      const given = { ...SETTINGS_OF_ALL, ...settings, NODE_OPTIONS: nodeOptions }
      const { process: supervisor, ready } = startEphemeralStack(dataDir, given, root)
      children.push(supervisor)
      const sandbox = await ready
      return {
        address: addressOf(sandbox.base_url),
        sandbox,
        dataDir,
        processes: () => [watched('supervisor', supervisor), ...processesOf(dataDir)],
        stop: () => end(supervisor),
      }
    },
    startNullBackendGateway: async ({ dataDir }, gateways = 1) => {
      const port = await freePort('127.0.0.1')
      const flags = ['--credentials', join(dataDir, FILES.sandbox), '--port', String(port)]
      const ceilings = Array.from({ length: gateways }, () =>
        start('test/load/null_backend_gateway.js', flags),
      )
      const urls = await Promise.all(ceilings.map(readyUrl))
      return {
        address: addressOf(urls[0] ?? ''),
        processes: () => ceilings.map((one, at) => watched(numbered('ceiling', at, gateways), one)),
      }
    },
    startBaseline: async () => {
      const dataDir = join(folder, `baseline-${++stacks}`)
      const processor = start('test/load/system_under_test/baseline_processor.js', [
        '--data-dir',
        dataDir,
      ])
      const listening = await readyUrl(processor)
      const gateway = start('test/load/system_under_test/baseline_gateway.js', [
        '--processor',
        listening,
      ])
      const url = await readyUrl(gateway)
      return {
        address: addressOf(url),
        sandbox: { ...readSandbox(join(dataDir, FILES.sandbox)), base_url: url },
        dataDir,
        processes: () => [watched('processor', processor), watched('gateway', gateway)],
        stop: async () => {
          await end(gateway)
          await end(processor)
        },
      }
    },
    stop: async () => {
      for (const child of children.splice(0).reverse()) await end(child)
    },
  }
}

/** As the supervisor names several of a kind. */
const numbered = (name: string, index: number, of: number): string =>
  of === 1 ? name : `${name}-${index + 1}`

const watched = (name: string, child: ChildProcess): Watched => ({ name, pid: child.pid ?? 0 })

interface RunFile {
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

export function processesOf(dataDir: string): Watched[] {
  const { processes } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile
  return Object.entries(processes).map(([name, { pid }]) => ({ name, pid }))
}

export function addressOf(url: string): Address {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

async function readyUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the output of the program is not ours to read')
  for await (const line of createInterface(stdout)) {
    if (!line.startsWith('ready: ')) continue
    stdout.resume() // what follows is nobody's to read, and must not block it
    return line.slice('ready: '.length)
  }
  throw new Error('a program ended before it served')
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
