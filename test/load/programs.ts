/**
 * The programs that are measured, each as its own process.
 *
 * Owns: their start, their environment, their end. Does not own: what they do.
 *
 * L1. They run with default settings but for what is named here: neither `.env` nor the settings of
 *     the shell that starts the measurement reach them.
 * L2. Their output goes to a file, so that reading it costs the measurement nothing.
 * L3. `stop` ends all that was started, also what does not serve yet.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { projectRoot } from '../../src/base/protos.js'
import { FILES } from '../../src/base/subjects.js'
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
  readonly credentials: Credentials
  readonly credentialsFile: string
}

/** The part of sandbox.json that is needed here. */
export interface Credentials {
  readonly base_url: string
  readonly host: string
  readonly ops_url: string
  readonly key_id: string
  readonly signing_secret: string
}

/** The first start of a stack makes keys, a database and a stream. */
const READY_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 50
/** The stack takes some seconds for requests in flight, then stops one process after the other. */
const STOPPED_WITHIN_MS = 60_000

const STACK_SETTINGS = {
  HTTP_PORT: '0',
  GRPC_PORT: '0',
  OPS_PORT: '0',
  NATS_PORT: '0',
  RATE_LIMIT: 'off',
}

/** `folder` is where they run and keep their data. */
export function createPrograms(folder: string): Programs {
  const children: ChildProcess[] = []

  const launch = async (
    name: string,
    main: string,
    parameters: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Promise<Running> => {
    const output = join(folder, `${name}.out`)
    const fd = openSync(output, 'w')
    const script = join(projectRoot(), '.build', main)
    const child = spawn(process.execPath, ['--enable-source-maps', script, ...parameters], {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...settings },
      stdio: ['ignore', fd, fd],
    })
    closeSync(fd)
    children.push(child)
    const { hostname, port } = await readyUrl(name, child, output)
    return {
      address: { host: hostname, port: Number(port) },
      processes: () => [{ name, pid: child.pid ?? 0 }],
    }
  }

  return {
    startStack: async () => {
      const data = join(folder, 'data')
      const settings = { ...STACK_SETTINGS, DATA_DIR: data }
      const supervisor = await launch('supervisor', 'src/supervisor/main.js', [], settings)
      const credentialsFile = join(data, FILES.sandbox)
      return {
        ...supervisor,
        processes: () => [...supervisor.processes(), ...processesOf(join(data, 'run.json'))],
        credentials: JSON.parse(readFileSync(credentialsFile, 'utf8')) as Credentials,
        credentialsFile,
      }
    },
    startCeiling: ({ credentialsFile }) =>
      launch('ceiling', 'gateway/ceiling.js', ['--credentials', credentialsFile], {}),
    stop: async () => {
      for (const child of children.splice(0).reverse()) await end(child)
    },
  }
}

interface RunFile {
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

function processesOf(runFile: string): Watched[] {
  const { processes } = JSON.parse(readFileSync(runFile, 'utf8')) as RunFile
  return Object.entries(processes).map(([name, { pid }]) => ({ name, pid }))
}

async function readyUrl(name: string, child: ChildProcess, output: string): Promise<URL> {
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    const said = readFileSync(output, 'utf8')
    const url = /^ready: (\S+)$/m.exec(said)?.[1]
    if (url !== undefined) return new URL(url)
    if (hasEnded(child)) throw new Error(`the ${name} ended before it served:\n${said}`)
    if (performance.now() > deadline) throw new Error(`the ${name} does not serve:\n${said}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  const force = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS)
  child.kill('SIGTERM')
  await ended
  clearTimeout(force)
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null
