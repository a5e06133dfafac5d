/**
 * The programs under test, each as its own process.
 *
 * - They run with default settings and LOAD_SETTINGS; `.env` and the shell are ignored.
 * - `stop` ends every started program, also before it serves.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS, type SettingName } from '../../src/settings/settings.js'
import { FILES } from '../../src/base/subjects.js'
import { FREE_PORTS, startEphemeralStack } from '../../src/operations/demo/ephemeral_stack.js'
import { credentialsOf, type Sandbox } from '../../src/operations/calls/sandbox.js'
import { freePort } from '../../src/supervisor/ports.js'
import { run } from '../../src/supervisor/program.js'
import { RUN_FILE } from '../../src/supervisor/stack.js'
import type { Key } from '../support/operators.js'
import { untilStarted } from '../support/program.js'
import { processesIn } from '../support/stack.js'
import type { Address } from './client/http_socket.js'
import type { Watched } from './process_usage.js'
import { DEFAULT_STORE, type StoreSettings } from '../support/stored_rows.js'

export interface StackOptions {
  readonly settings?: Partial<Record<SettingName | 'NODE_OPTIONS', string>>
  /** A new empty one by default. */
  readonly dataDir?: string
  /** A built checkout of another revision. */
  readonly root?: string
}

/** A shard under load. */
export interface LoadedShard {
  readonly shard: string
  /** The name of its processor. */
  readonly processor: string
  /** The names of the partners that pay in it. */
  readonly partners: readonly string[]
}

export interface Stack {
  /** Where its gateways serve HTTP; connections take turns. */
  readonly addresses: readonly Address[]
  /** Now: a stack restarts a process that exits. */
  processes(): readonly Watched[]
  readonly sandbox: Sandbox
  /** Those that pay; they take turns. */
  readonly partners: readonly Key[]
  /** Absent means that there is one only. */
  readonly shards?: readonly LoadedShard[]
  readonly dataDir: string
  readonly store: StoreSettings
  stop(): Promise<void>
}

export type Stacks = ReturnType<typeof createStacks>

/** No rate limits, receivers on this machine, and a rail without delay, which is not measured. */
const LOAD_SETTINGS = {
  ...Object.fromEntries(Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback])),
  ...{ ...FREE_PORTS, RATE_LIMIT: 'off', RAIL_DELAY_MS: '0', WEBHOOK_ALLOW_PRIVATE: 'true' },
  NODE_OPTIONS: '',
}

/** @param folder where they run and keep their data */
export function createStacks(folder: string) {
  const stops: (() => Promise<void>)[] = []
  const start = async (options: StackOptions = {}): Promise<Stack> => {
    const { settings, root, dataDir = join(folder, `data-${stops.length}`) } = options
    const given = { ...LOAD_SETTINGS, ...settings }
    const { process: supervisor, ready } = startEphemeralStack(dataDir, given, root)
    const stop = (): Promise<void> => end(supervisor)
    stops.push(stop)
    const sandbox = await ready
    const itself = { name: 'supervisor', pid: supervisor.pid ?? 0 }
    return {
      addresses: [addressOf(sandbox.base_url)],
      ...{ sandbox, dataDir, store: DEFAULT_STORE, stop },
      partners: [credentialsOf(sandbox, 'Service')],
      processes: () => [itself, ...processesOf(dataDir)],
    }
  }
  /** The ceiling: gateways without a processor, for the stack's partner. */
  const startNullBackend = async ({ dataDir }: Stack, gateways: number) => {
    const address = { host: '127.0.0.1', port: await freePort('127.0.0.1') }
    const main = join(projectRoot(), '.build/test/load/null_backend_gateway.js')
    const given = [join(dataDir, FILES.sandbox), String(address.port)]
    const watched: Watched[] = []
    for (let number = 1; number <= gateways; number += 1) {
      const name = gateways === 1 ? 'ceiling' : `ceiling-${number}`
      const environment = { ...process.env, ...LOAD_SETTINGS, DOT_ENV: '' }
      const node = { command: process.execPath, arguments: [main, ...given] }
      const log = join(folder, `${name}.log`)
      const running = run({ ...node, environment, readyWhen: 'message' }, log)
      stops.push(running.stop)
      await untilStarted(running)
      watched.push({ name, pid: running.pid ?? 0 })
    }
    return { address, processes: () => watched }
  }
  /** The last one started ends first. */
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each()
  }
  return { start, startNullBackend, stop }
}

export const processesOf = (dataDir: string): Watched[] =>
  Object.entries(processesIn(join(dataDir, RUN_FILE))).map(([name, { pid }]) => {
    return { name, pid, hasChildren: name.startsWith('postgres') }
  })

export function addressOf(url: string): Address {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
