/**
 * Starts the programs that are measured, each as its own process.
 *
 * Owns: their environment, waiting until they serve, their end. Does not own: what they do.
 *
 * L1. The measured programs have default settings but for what is named here: neither `.env` nor the settings of the
 *     shell that starts the measurement reach them.
 * L2. Their output goes to a file, so that reading it costs the measurement nothing.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { projectRoot } from '../../src/base/protos.js'
import { FILES } from '../../src/base/subjects.js'
import type { Watched } from './usage.js'

export interface Running {
  /** Where it serves HTTP. */
  readonly address: { readonly host: string; readonly port: number }
  processes(): readonly Watched[]
  stop(): Promise<void>
}

export interface Stack extends Running {
  readonly credentials: Credentials
  readonly credentialsFile: string
}

/** The part of sandbox.json that is needed here. */
export interface Credentials {
  readonly base_url: string
  readonly ops_url: string
  readonly host: string
  readonly key_id: string
  readonly signing_secret: string
}

/** The first start of a stack makes keys, a database and a stream. */
const READY_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 50
/** The stack takes up to 5 s for requests in flight, then stops one process after the other. */
const STOPPED_WITHIN_MS = 30_000

const FREE_PORTS = { HTTP_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', NATS_PORT: '0' }

export async function startStack(folder: string): Promise<Stack> {
  const data = join(folder, 'data')
  const started = await launch('supervisor', 'src/supervisor/main.js', [], folder, {
    ...FREE_PORTS,
    DATA_DIR: data,
    RATE_LIMIT: 'off',
  })
  const credentialsFile = join(data, FILES.sandbox)
  return {
    ...started,
    processes: () => [...started.processes(), ...processesOf(join(data, 'run.json'))],
    credentials: JSON.parse(readFileSync(credentialsFile, 'utf8')) as Credentials,
    credentialsFile,
  }
}

export function startCeiling(folder: string, credentialsFile: string): Promise<Running> {
  return launch('ceiling', 'gateway/ceiling.js', ['--credentials', credentialsFile], folder, {})
}

interface RunFile {
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

function processesOf(runFile: string): Watched[] {
  const { processes } = JSON.parse(readFileSync(runFile, 'utf8')) as RunFile
  return Object.entries(processes).map(([name, { pid }]) => ({ name, pid }))
}

async function launch(
  name: string,
  main: string,
  parameters: readonly string[],
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<Running> {
  mkdirSync(folder, { recursive: true })
  const script = join(projectRoot(), '.build', main)
  const output = join(folder, `${name}.out`)
  const fd = openSync(output, 'w')
  const child = spawn(process.execPath, ['--enable-source-maps', script, ...parameters], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', fd, fd],
  })
  closeSync(fd)
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    const force = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS)
    child.kill('SIGTERM')
    await ended
    clearTimeout(force)
  }
  try {
    const url = await readyUrl(name, child, output)
    return {
      address: { host: url.hostname, port: Number(url.port) },
      processes: () => [{ name, pid: child.pid ?? 0 }],
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function readyUrl(name: string, child: ChildProcess, output: string): Promise<URL> {
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    const said = readFileSync(output, 'utf8')
    const url = /^ready: (\S+)$/m.exec(said)?.[1]
    if (url !== undefined) return new URL(url)
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}:\n${said}`)
    if (performance.now() > deadline) throw new Error(`${name} does not serve:\n${said}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
