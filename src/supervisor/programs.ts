/**
 * The programs of a stack: start order, command lines, sockets and ports.
 *
 * - Our processes connect over Unix sockets; TCP is for partners, internal services and NATS.
 * - A port that a process chose is reused by its later runs, because clients use it by then.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadyInfo } from '../process/child.js'
import type { Instant } from '../base/clock.js'
import { joinAddress, localHost } from '../base/network.js'
import { projectRoot } from '../base/project_root.js'
import { sandboxRailFault } from '../settings/sandbox_in_production.js'
import { writeSecretFile } from '../files/secret_file.js'
import { hasDefaultHosts, type SettingName, type Settings } from '../settings/settings.js'
import { FILES } from '../base/subjects.js'
import { readRails } from '../rails/rails_file.js'
import type { Credentials } from './credentials.js'
import type { DataFolder } from './data_folder.js'
import { StartupError } from './startup_error.js'
import type { OwnProgram } from './child_variables.js'
import type { StackEnvironment } from './environment.js'
import { planIso20022, refuseJournalOfOther } from './iso20022_programs.js'
import type { NatsServer } from './nats_server.js'
import type { PostgresServer } from './postgres_server.js'
import { consolePort, freePort } from './ports.js'
import type { PlannedProgram, Program } from './program.js'

/** The kernel limits the path of a socket to 107 bytes. */
const SOCKET_FOLDER_MAX_BYTES = 80

export const POOL = 'actors/webhook/main.js'
/**
 * At full load, objects that wait for a commit outlive the default young generation; collecting
 * them from the old one costs a fifth of the pool's CPU.
 */
export const NODE_FLAGS: Readonly<Record<string, readonly string[]>> = {
  [POOL]: ['--max-semi-space-size=64'],
}

const GATEWAY = 'gateway/main.js'
export const CONSOLE = 'src/console/main.js'
export const SCREENING = 'src/screening/sandbox/main.js'
/** Replaced by a stop and a start. */
export const STOPPED_BEFORE: readonly OwnProgram[] = [
  ...([CONSOLE, SCREENING, 'src/rails/switch/main.js'] as const),
]
/** Printed at the start: the included rail moves no real money. */
const RAIL_DESCRIPTION = {
  sandbox: 'sandbox bank network',
  production: 'sandbox: moves no real money',
}
/** Bytes of a request head; the default of uWS is lower with Node 22 and later. */
const HEAD_MAX = { UWS_HTTP_MAX_HEADERS_SIZE: '8192' }

/** @throws StartupError or SettingsError */
export function refuseUnfitRails(settings: Settings): void {
  readRails(settings)
  const fault = sandboxRailFault(settings) ?? screeningFault(settings)
  if (fault !== undefined) throw new StartupError(fault)
}

/** The sandbox screens no production: every payout there would be held. */
function screeningFault(settings: Settings): string | undefined {
  const { SCREENING: kind, SCREENING_ADDRESS: address, PRODUCTION_HOSTS: production } = settings
  if (kind === 'none') return undefined
  if (address !== '') return 'SCREENING=sandbox and SCREENING_ADDRESS are not allowed together.'
  return production.length === 0
    ? undefined
    : 'SCREENING=sandbox is not allowed with PRODUCTION_HOSTS: set SCREENING_ADDRESS instead.'
}

const MODES: Readonly<Record<string, string>> = {
  recovery: ', in recovery mode: reads only',
  unverified: ', reads only until the rail or the bus answers',
  submissions_stopped: ', submits nothing to the rail',
}

export interface ConsoleProgram extends PlannedProgram {
  readonly url: string
}

export interface Plan {
  /** In start order; programs of one stage do not depend on each other. */
  readonly stages: readonly (readonly PlannedProgram[])[]
  /** Starts last, and nothing waits for it. Absent means that CONSOLE is off. */
  readonly console?: ConsoleProgram
  /** Known once the programs are ready. */
  readonly ports: { http: number; grpc: number; nats: number }
  /** Removes the sockets. */
  cleanUp(): void
}

/** Servers of others that the stack runs itself. Absent if the settings name one or use none. */
export interface BundledServers {
  readonly nats: NatsServer | undefined
  readonly postgres: PostgresServer | undefined
}

export async function planStack(
  { settings, forChild }: StackEnvironment,
  data: DataFolder,
  credentials: Credentials,
  { nats, postgres }: BundledServers,
  now: Instant,
): Promise<Plan> {
  if (settings.WEBHOOK_STORE_URL !== '' && settings.STORE_URL === '' && postgres === undefined) {
    throw new StartupError('WEBHOOK_STORE_URL is set and STORE_URL is not: set both, or none.')
  }
  const sockets = openSocketFolder(data)
  const ports = {
    http: await gatewayPort(settings),
    grpc: settings.GRPC_PORT,
    nats: settings.NATS_PORT,
  }
  const postgresPort = postgres === undefined ? 0 : await freePort('127.0.0.1')
  const root = projectRoot()

  const own = (main: OwnProgram, addresses: Partial<Record<SettingName, string>>): Program => {
    const flags = NODE_FLAGS[main] ?? []
    return {
      command: process.execPath,
      arguments: [...flags, join(root, '.build', main)],
      environment: {
        ...forChild(main, {
          DATA_DIR: data.path,
          HTTP_PORT: String(ports.http),
          GRPC_PORT: String(ports.grpc),
          NATS_URL: nats?.url(ports.nats) ?? settings.NATS_URL,
          STORE_URL: postgres?.url(postgresPort) ?? settings.STORE_URL,
          ...credentials.settingsOf(main),
          ...addresses,
        }),
        ...(main === GATEWAY ? HEAD_MAX : {}),
      },
      readyWhen: 'message',
      ...(STOPPED_BEFORE.includes(main) ? {} : { canReplace: true }),
    }
  }
  const rail = sockets.address('rail')
  refuseJournalOfOther(settings, data)
  const processor = sockets.address('processor')

  const sandbox: PlannedProgram = {
    name: 'rail',
    program: () => own('src/rails/sandbox/main.js', { RAIL_LISTEN: rail }),
    describe: () =>
      RAIL_DESCRIPTION[settings.PRODUCTION_HOSTS.length > 0 ? 'production' : 'sandbox'],
  }
  const included =
    settings.RAIL_ADAPTER === 'iso20022'
      ? await planIso20022({ settings, data, own, rail, now })
      : [sandbox]
  const first = readRails(settings).some(({ isIncluded }) => isIncluded) ? [...included] : []
  const screening = sockets.address('screening')
  const isScreened = settings.SCREENING === 'sandbox'
  if (isScreened)
    first.push({
      name: 'screening',
      program: () => own(SCREENING, { SCREENING_LISTEN: screening }),
      describe: () => 'sandbox: decides by reference',
    })
  if (nats !== undefined) {
    first.unshift({
      name: 'nats',
      program: () => nats.program(ports.nats),
      describe: (info) => {
        ports.nats = portOf(info)
        return `on 127.0.0.1:${ports.nats}`
      },
    })
  }
  if (postgres !== undefined) {
    first.unshift({
      name: 'postgres',
      program: () => {
        writeSecretFile(data.file(FILES.storeUrl), postgres.url(postgresPort))
        return postgres.program(postgresPort)
      },
      describe: () => `on 127.0.0.1:${postgresPort}, stores the books`,
    })
  } else rmSync(data.file(FILES.storeUrl), { force: true })
  let wasReady = false
  const second: PlannedProgram = {
    name: 'processor',
    program: () => {
      const program = own('src/processor/main.js', {
        RAIL_ADDRESS: rail,
        GRPC_SOCKET: sockets.path('processor'),
        ...(isScreened ? { SCREENING_ADDRESS: screening } : {}),
      })
      if (!wasReady) return program
      // The setting only begins recovery mode; the database keeps it.
      return { ...program, environment: { ...program.environment, RECOVERY: 'no' } }
    },
    describe: (info) => {
      wasReady = true
      ports.grpc = portOf(info)
      const where = `gRPC on ${grpcAddress(settings, ports.grpc)}`
      return `${where}${MODES[String(info['mode'])] ?? ''}`
    },
  }
  const third: PlannedProgram[] = [
    ...named('webhooks', settings.WEBHOOK_POOLS).map((name, index) => ({
      name,
      program: () =>
        own(POOL, {
          ...{ PROCESSOR_ADDRESS: processor, WEBHOOK_POOL_NUMBER: String(index + 1) },
          // A pool with a role of its own does not have that of the books.
          ...(settings.WEBHOOK_STORE_URL === '' ? {} : { STORE_URL: '' }),
        }),
      describe: (info: ReadyInfo) =>
        info['mode'] === 'candidate' ? 'waits: another process owns the pool' : 'delivers webhooks',
    })),
    ...named('gateway', settings.GATEWAYS).map((name) => ({
      name,
      program: () => own(GATEWAY, { PROCESSOR_ADDRESS: processor }),
      describe: (info: ReadyInfo) => {
        ports.http = portOf(info)
        return baseUrl(settings, ports.http)
      },
    })),
  ]
  const console = await planConsole(settings, (port) =>
    own(CONSOLE, { PROCESSOR_ADDRESS: processor, CONSOLE_PORT: port }),
  )
  return {
    stages: [first, [second], third],
    ...(console === undefined ? {} : { console }),
    ports,
    cleanUp: sockets.remove,
  }
}

/** Its address is chosen before it starts, because `sandbox.json` names it. */
export async function planConsole(
  settings: Settings,
  program: (port: string) => Program,
): Promise<ConsoleProgram | undefined> {
  const { CONSOLE, CONSOLE_HOST, CONSOLE_TLS_CERT_FILE } = settings
  if (CONSOLE === 'off') return undefined
  const port = await consolePort(settings)
  const scheme = CONSOLE_TLS_CERT_FILE === '' ? 'http' : 'https'
  const url = `${scheme}://${joinAddress({ host: localHost(CONSOLE_HOST), port })}`
  return { name: 'console', url, program: () => program(String(port)), describe: () => url }
}

/** The console draws the metrics of this ops port, unless CONSOLE_METRICS names others. */
export function withMetrics(console: Program, opsUrl: string | undefined): Program {
  const { environment } = console
  if (opsUrl === undefined || (environment['CONSOLE_METRICS'] ?? '') !== '') return console
  return { ...console, environment: { ...environment, CONSOLE_METRICS: new URL(opsUrl).host } }
}

/**
 * Gateways bind a port by number: only then can several share it, and a restarted one rebind it
 * while old connections remain.
 */
async function gatewayPort({ HTTP_HOST, HTTP_PORT }: Settings): Promise<number> {
  return HTTP_PORT === 0 ? freePort(HTTP_HOST) : HTTP_PORT
}

const named = (name: string, count: number): string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, i) => `${name}-${i + 1}`)

/** How a client on this machine reaches the gateways. */
export function baseUrl({ HTTP_HOST, TLS_CERT_FILE }: Settings, port: number): string {
  const scheme = TLS_CERT_FILE === '' ? 'http' : 'https'
  return `${scheme}://${joinAddress({ host: localHost(HTTP_HOST), port })}`
}

/** Undefined without sandbox hosts: only they serve the documentation. */
export function docsUrl(settings: Settings, port: number): string | undefined {
  const url = new URL('/docs', baseUrl(settings, port))
  if (hasDefaultHosts(settings)) return url.href
  const [host] = settings.SANDBOX_HOSTS
  if (host === undefined) return undefined
  url.hostname = host
  return url.href
}

/** How a client on this machine reaches the processor. */
export const grpcAddress = ({ GRPC_HOST }: Settings, port: number): string =>
  joinAddress({ host: localHost(GRPC_HOST), port })

function portOf(info: ReadyInfo): number {
  return Number(info['port'])
}

interface SocketFolder {
  path(name: string): string
  /** The address for gRPC. */
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
