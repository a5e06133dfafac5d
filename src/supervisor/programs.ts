/**
 * Which programs a stack has, who needs whom, and how they find one another.
 *
 * Owns: command lines, sockets and ports. Does not own: running them (managed_process).
 *
 * - Our own processes meet on Unix sockets; TCP is for partners, internal services and NATS.
 * - A port that was chosen by its process is kept for that process' later runs: clients know it
 *   by then.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadyInfo } from '../base/child.js'
import { projectRoot } from '../base/protos.js'
import type { Settings } from '../base/settings.js'
import type { DataFolder } from './data_folder.js'
import { StartupError } from './startup_error.js'
import type { OwnProgram } from './child_variables.js'
import type { StackEnvironment } from './environment.js'
import type { NatsServer } from './nats_server.js'
import { freePort } from './ports.js'
import type { Program } from './program.js'

/** The kernel takes 107 bytes for a socket's path. */
const SOCKET_FOLDER_MAX_BYTES = 80

export const POOL = 'actors/webhook/main.js'
/**
 * What waits for a commit outlives the usual young generation at full load, and collecting it from
 * the old one takes a fifth of the pool's CPU.
 */
export const NODE_FLAGS: Readonly<Record<string, readonly string[]>> = {
  [POOL]: ['--max-semi-space-size=64'],
}

const GATEWAY = 'gateway/main.js'
/** There is no other rail in the box, and who serves production must know. */
const RAIL_IN_WORDS = {
  sandbox: 'the sandbox of a bank network',
  production: 'the sandbox: no real money is moved',
}
/** Bytes of a request's head: by itself uWS takes fewer for Node 22 and later. */
const HEAD_MAX = { UWS_HTTP_MAX_HEADERS_SIZE: '8192' }

/**
 * The sandbox rail executes nothing: production payments would be told as paid, and are not.
 *
 * @throws StartupError
 */
export function refuseSandboxRailInProduction(settings: Settings): void {
  const { PRODUCTION_HOSTS, ALLOW_SANDBOX_RAIL_IN_PRODUCTION } = settings
  if (PRODUCTION_HOSTS.length === 0 || ALLOW_SANDBOX_RAIL_IN_PRODUCTION === 'yes') return
  throw new StartupError(
    'PRODUCTION_HOSTS is set, but the only rail is the sandbox, which moves no real money: ' +
      'unset PRODUCTION_HOSTS, or set ALLOW_SANDBOX_RAIL_IN_PRODUCTION=yes to try production out.',
  )
}

export interface PlannedProgram {
  readonly name: string
  program(): Program
  /** Keeps what the running program told, and says in a few words where it is to be found. */
  describe(info: ReadyInfo): string
}

export interface Plan {
  /** In the order of their start; those of one stage do not need each other. */
  readonly stages: readonly (readonly PlannedProgram[])[]
  /** Known once the programs serve. */
  readonly ports: { http: number; grpc: number; nats: number }
  /** Removes what only lives as long as the run. */
  tidy(): void
}

export async function planStack(
  { settings, forChild }: StackEnvironment,
  data: DataFolder,
  nats: NatsServer | undefined,
): Promise<Plan> {
  const sockets = openSocketFolder(data)
  const ports = {
    http: await gatewayPort(settings),
    grpc: settings.GRPC_PORT,
    nats: settings.NATS_PORT,
  }
  const root = projectRoot()

  const own = (main: OwnProgram, socket: string | undefined, ...args: string[]): Program => {
    if (socket !== undefined) rmSync(sockets.path(socket), { force: true }) // left by a killed run
    const flags = ['--enable-source-maps', ...(NODE_FLAGS[main] ?? [])]
    return {
      command: process.execPath,
      arguments: [...flags, join(root, '.build', main), ...args],
      environment: {
        ...forChild(main, {
          DATA_DIR: data.path,
          HTTP_PORT: String(ports.http),
          GRPC_PORT: String(ports.grpc),
          NATS_URL: nats?.url(ports.nats) ?? settings.NATS_URL,
        }),
        ...(main === GATEWAY ? HEAD_MAX : {}),
      },
      serves: 'says',
    }
  }
  const rail = sockets.address('rail')
  const processor = sockets.address('processor')

  const outside: PlannedProgram[] = [
    {
      name: 'rail',
      program: () => own('src/rails/sandbox/main.js', 'rail', '--listen', rail),
      describe: () =>
        RAIL_IN_WORDS[settings.PRODUCTION_HOSTS.length > 0 ? 'production' : 'sandbox'],
    },
  ]
  if (nats !== undefined) {
    outside.unshift({
      name: 'nats',
      program: () => nats.program(ports.nats),
      describe: (info) => {
        ports.nats = portOf(info)
        return `on 127.0.0.1:${ports.nats}`
      },
    })
  }
  let hasServed = false
  const middle: PlannedProgram = {
    name: 'processor',
    program: () => {
      const args = ['--rail', rail, '--listen', processor]
      const program = own('src/processor/main.js', 'processor', ...args)
      if (!hasServed) return program
      // The setting begins recovery mode; whether it goes on, the books know.
      return { ...program, environment: { ...program.environment, RECOVERY: 'no' } }
    },
    describe: (info) => {
      hasServed = true
      ports.grpc = portOf(info)
      const where = `gRPC on 127.0.0.1:${ports.grpc}`
      return info['mode'] === 'recovery' ? `${where}, in recovery mode: reads only` : where
    },
  }
  const edges: PlannedProgram[] = [
    ...named('webhooks', settings.WEBHOOK_POOLS).map((name, index) => ({
      name,
      program: () => own(POOL, undefined, '--processor', processor, '--number', String(index + 1)),
      describe: () => 'the pool that delivers',
    })),
    ...named('gateway', settings.GATEWAYS).map((name) => ({
      name,
      program: () => own(GATEWAY, undefined, '--processor', processor),
      describe: (info: ReadyInfo) => {
        ports.http = portOf(info)
        return baseUrl(settings, ports.http)
      },
    })),
  ]
  return { stages: [outside, [middle], edges], ports, tidy: sockets.remove }
}

/**
 * Gateways take a port by its number, never "any": only then can several share it, and a restarted
 * one have it again while old connections linger.
 */
async function gatewayPort({ HTTP_HOST, HTTP_PORT }: Settings): Promise<number> {
  return HTTP_PORT === 0 ? freePort(HTTP_HOST) : HTTP_PORT
}

const named = (name: string, count: number): string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, i) => `${name}-${i + 1}`)

/** How a client on this machine reaches the gateways. */
export function baseUrl({ HTTP_HOST, TLS_CERT_FILE }: Settings, port: number): string {
  const scheme = TLS_CERT_FILE === '' ? 'http' : 'https'
  if (HTTP_HOST === '0.0.0.0') return `${scheme}://127.0.0.1:${port}`
  if (HTTP_HOST === '::') return `${scheme}://[::1]:${port}`
  return `${scheme}://${HTTP_HOST.includes(':') ? `[${HTTP_HOST}]` : HTTP_HOST}:${port}`
}

function portOf(info: ReadyInfo): number {
  return Number(info['port'])
}

interface SocketFolder {
  path(name: string): string
  /** As gRPC spells it. */
  address(name: string): string
  remove(): void
}

function openSocketFolder(data: DataFolder): SocketFolder {
  const usual = data.file('run')
  const fits = Buffer.byteLength(usual) <= SOCKET_FOLDER_MAX_BYTES
  const folder = fits ? usual : mkdtempSync(join(tmpdir(), 'causeway-'))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = (name: string): string => join(folder, `${name}.sock`)
  return {
    path,
    address: (name) => `unix:${path(name)}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
