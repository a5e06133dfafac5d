/**
 * The programs under test, each as its own process.
 *
 * - They run with default settings and LOAD_SETTINGS; `.env` and the shell are ignored.
 * - `stop` ends every started program, also before it serves.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS, type SettingName } from '../../src/base/settings.js'
import { FILES } from '../../src/base/subjects.js'
import { FREE_PORTS, startEphemeralStack } from '../../src/operations/ephemeral_stack.js'
import type { Credentials } from '../../src/client/index.js'
import type { Sandbox } from '../../src/operations/sandbox.js'
import { freePort } from '../../src/supervisor/ports.js'
import type { Address } from './client/http_socket.js'
import type { Watched } from './process_usage.js'
import { DEFAULT_STORE, type StoreSettings } from './stored.js'

export interface StackOptions {
  readonly settings?: Partial<Record<SettingName, string>>
  /** A new empty one by default. */
  readonly dataDir?: string
  /** A built checkout of another revision. */
  readonly root?: string
  /** For each of its Node processes. */
  readonly nodeOptions?: string
}

/** Programs that serve HTTP at one address. */
export interface Running {
  readonly address: Address
  /** Now: a stack restarts a process that exits. */
  processes(): readonly Watched[]
}

/** A partner's API key. */
export type PartnerKey = Pick<Credentials, 'keyId' | 'secret'>

export interface Stack extends Running {
  readonly sandbox: Sandbox
  /** Those that pay; they take turns. */
  readonly partners: readonly PartnerKey[]
  /** Further gateways; connections take turns too. */
  readonly otherAddresses: readonly Address[]
  readonly dataDir: string
  readonly store: StoreSettings
  stop(): Promise<void>
}

export type Stacks = ReturnType<typeof createStacks>

/** No rate limits, receivers on this machine, and a rail without delay, which is not measured. */
const LOAD_SETTINGS = {
  ...Object.fromEntries(Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback])),
  ...{ ...FREE_PORTS, RATE_LIMIT: 'off', RAIL_DELAY_MS: '0', WEBHOOK_ALLOW_PRIVATE: 'true' },
}

/** @param folder where they run and keep their data */
export function createStacks(folder: string) {
  const children: ChildProcess[] = []
  let count = 0
  const start = async (options: StackOptions = {}): Promise<Stack> => {
    const { settings, root, nodeOptions = '' } = options
    const { dataDir = join(folder, `data-${++count}`) } = options
    const given = { ...LOAD_SETTINGS, ...settings, NODE_OPTIONS: nodeOptions }
    const { process: supervisor, ready } = startEphemeralStack(dataDir, given, root)
    children.push(supervisor)
    const sandbox = await ready
    const itself = { name: 'supervisor', pid: supervisor.pid ?? 0 }
    return {
      address: addressOf(sandbox.base_url),
      ...{ sandbox, dataDir, store: DEFAULT_STORE, stop: () => end(supervisor) },
      ...{ partners: [demoKey(sandbox)], otherAddresses: [] },
      processes: () => [itself, ...processesOf(dataDir)],
    }
  }
  /** The ceiling: gateways without a processor, for the stack's partner. */
  const startNullBackend = async ({ dataDir }: Stack, gateways: number): Promise<Running> => {
    const port = String(await freePort('127.0.0.1'))
    const main = join(projectRoot(), '.build/test/load/null_backend_gateway.js')
    const flags = ['--credentials', join(dataDir, FILES.sandbox), '--port', port]
    const env = { ...process.env, ...LOAD_SETTINGS }
    const started = Array.from({ length: gateways }, () =>
      spawn(process.execPath, ['--enable-source-maps', main, ...flags], {
        ...{ cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] },
      }),
    )
    children.push(...started)
    const urls = await Promise.all(started.map(readyUrl))
    const name = (index: number): string => (gateways === 1 ? 'ceiling' : `ceiling-${index + 1}`)
    return {
      address: addressOf(urls[0] ?? ''),
      processes: () => started.map(({ pid = 0 }, index) => ({ name: name(index), pid })),
    }
  }
  /** The last one started ends first. */
  const stop = async (): Promise<void> => {
    for (const child of children.splice(0).reverse()) await end(child)
  }
  return { start, startNullBackend, stop }
}

export function processesOf(dataDir: string): Watched[] {
  const { processes } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as {
    readonly processes: Readonly<Record<string, { readonly pid: number }>>
  }
  return Object.entries(processes).map(([name, { pid }]) => {
    return { name, pid, hasChildren: name.startsWith('postgres') }
  })
}

export const demoKey = ({ key_id: keyId, signing_secret: secret }: Sandbox): PartnerKey => ({
  ...{ keyId, secret },
})

export function addressOf(url: string): Address {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

async function readyUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the program has no output')
  for await (const line of createInterface(stdout)) {
    if (!line.startsWith('ready: ')) continue
    stdout.resume() // Further output must not block it.
    return line.slice('ready: '.length)
  }
  throw new Error('a program exited before it served')
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
