/**
 * The programs that are measured, each as its own process.
 *
 * Owns: their settings and their end. Does not own: how a stack starts (operations/own_stack).
 *
 * L1. They run with default settings but for what is named here: neither `.env` nor the settings of
 *     the shell that starts the measurement reach them.
 * L2. `stop` ends all that was started, also what does not serve yet.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { projectRoot } from '../../src/base/protos.js'
import { SETTINGS } from '../../src/base/settings.js'
import { FILES } from '../../src/base/subjects.js'
import { startOwnStack } from '../../src/operations/own_stack.js'
import type { Sandbox } from '../../src/operations/sandbox.js'
import type { Watched } from './usage.js'

export interface Programs {
  startStack(): Promise<Stack>
  /** Of the stack's gateway, for the stack's partner. */
  startCeiling(stack: Stack): Promise<Running>
  /** The last one started ends first. */
  stop(): Promise<void>
}

export interface Running {
  /** Where it serves HTTP. */
  readonly address: { readonly host: string; readonly port: number }
  /** As of now: a stack starts a process that died anew. */
  processes(): readonly Watched[]
}

export interface Stack extends Running {
  readonly sandbox: Sandbox
  readonly dataDir: string
}

const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback]),
)
const FREE_PORTS = { HTTP_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', NATS_PORT: '0' }
const SETTINGS_OF_ALL = { ...DEFAULTS, ...FREE_PORTS, RATE_LIMIT: 'off' }

/** `folder` is where they run and keep their data. */
export function createPrograms(folder: string): Programs {
  const children: ChildProcess[] = []

  return {
    startStack: async () => {
      const dataDir = join(folder, 'data')
      const { process: supervisor, ready } = startOwnStack(dataDir, SETTINGS_OF_ALL)
      children.push(supervisor)
      const sandbox = await ready
      return {
        address: addressOf(sandbox.base_url),
        sandbox,
        dataDir,
        processes: () => [watched('supervisor', supervisor), ...processesOf(dataDir)],
      }
    },
    startCeiling: async ({ dataDir }) => {
      const main = join(projectRoot(), '.build/gateway/ceiling.js')
      const flags = ['--enable-source-maps', main, '--credentials', join(dataDir, FILES.sandbox)]
      const ceiling = spawn(process.execPath, flags, {
        cwd: folder,
        env: { ...process.env, ...SETTINGS_OF_ALL },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(ceiling)
      const address = addressOf(await readyUrl(ceiling))
      return { address, processes: () => [watched('ceiling', ceiling)] }
    },
    stop: async () => {
      for (const child of children.splice(0).reverse()) await end(child)
    },
  }
}

const watched = (name: string, child: ChildProcess): Watched => ({ name, pid: child.pid ?? 0 })

interface RunFile {
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

function processesOf(dataDir: string): Watched[] {
  const { processes } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile
  return Object.entries(processes).map(([name, { pid }]) => ({ name, pid }))
}

function addressOf(url: string): Running['address'] {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

async function readyUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the output of the ceiling is not ours to read')
  for await (const line of createInterface(stdout)) {
    if (!line.startsWith('ready: ')) continue
    stdout.resume() // what follows is nobody's to read, and must not block it
    return line.slice('ready: '.length)
  }
  throw new Error('the ceiling ended before it served')
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
