/**
 * The programs of the trial cluster: two gateways, three processors, two webhook pools, a rail,
 * three nats-servers and two PostgreSQL servers on one machine; a screening service if asked for.
 *
 * - Each program has a data directory of its own, as on a machine of its own.
 * - Two processors have a shard each; the third is a spare. Each takes over any shard that
 *   loses its owner.
 * - All listen on loopback TCP, so a test can put a proxy between any two.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadMasterKeys } from '../auth/master_key.js'
import type { ReadyInfo } from '../process/child.js'
import { projectRoot } from '../base/project_root.js'
import type { Random } from '../base/random.js'
import { writeSecretFile } from '../files/secret_file.js'
import type { SettingName } from '../settings/settings.js'
import { FILES, webhookSchema } from '../base/subjects.js'
import type { OwnProgram } from '../supervisor/child_variables.js'
import type { Credentials } from '../supervisor/credentials.js'
import type { DataFolder } from '../supervisor/data_folder.js'
import type { StackEnvironment } from '../supervisor/environment.js'
import { ensurePassword, natsServer } from '../supervisor/nats_server.js'
import { freePort } from '../supervisor/ports.js'
import { clusterVersion, findPostgres } from '../supervisor/postgres_server.js'
import type { Program } from '../supervisor/program.js'
import {
  CONSOLE,
  NODE_FLAGS,
  planConsole,
  POOL,
  SCREENING,
  STOPPED_BEFORE,
  type ConsoleProgram,
} from '../supervisor/programs.js'
import { StartupError } from '../supervisor/startup_error.js'
import type { ClusterRole } from './cluster_file.js'
import { createPostgresPair, POSTGRES_NAMES, type PostgresPair } from './postgres_pair.js'

const LOOPBACK = '127.0.0.1'
const GATEWAY_HOSTS = [LOOPBACK, '127.0.0.2']
const SHARDS = ['books_1', 'books_2']
const PROCESSORS = ['processor-1', 'processor-2', 'processor-3'] as const
const SPARE = 'processor-3'
const POOLS = [1, 2]
const NATS = ['nats-1', 'nats-2', 'nats-3'] as const

/** Where one program reaches another: the address itself, or a proxy's. */
export type AddressRoute = (from: string, to: string, address: string) => Promise<string>

export interface ClusterProgram {
  readonly name: string
  readonly role: ClusterRole
  /** See `ClusterMember`; a processor's changes. */
  readonly shard: string
  readonly address: string
  program(): Program
  describe(info: ReadyInfo): string
}

export interface ClusterPlan {
  readonly postgres: PostgresPair
  /** In start order. The first stage is the PostgreSQL primary, the second its standby. */
  readonly stages: readonly (readonly ClusterProgram[])[]
  /** No part of `cluster.json`, whose roles others rely on. Absent means that CONSOLE is off. */
  readonly console?: ConsoleProgram
  /** The address of the first gateway. */
  readonly baseUrl: string
  /** The processor that creates the demo partner. */
  readonly grpcAddress: string
  /** The gRPC addresses of all processors. */
  readonly processors: readonly string[]
  readonly shards: readonly string[]
}

export interface PlanOptions {
  readonly environment: StackEnvironment
  readonly data: DataFolder
  readonly credentials: Credentials
  readonly random: Random
  readonly report: (line: string) => void
  readonly route: AddressRoute
}

/** @throws StartupError */
export async function planCluster(options: PlanOptions): Promise<ClusterPlan> {
  const { environment, data, credentials, random, report, route } = options
  const { settings, forChild, forForeign, find } = environment
  const natsBinary = find('nats-server')
  if (natsBinary === undefined) {
    throw new StartupError('nats-server is missing: install it (apt-get install nats-server).')
  }
  const home = data.folder('cluster')
  const folderOf = (name: string): string => {
    const folder = join(home, name)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  }
  const portOf = await portsFor([
    ...[...PROCESSORS, ...NATS, ...POSTGRES_NAMES, 'rail', 'screening'],
    ...NATS.map((name) => `${name} route`),
  ])
  const addressOf = (name: string): string => `${LOOPBACK}:${portOf(name)}`
  const httpPort = settings.HTTP_PORT === 0 ? await freePort(LOOPBACK) : settings.HTTP_PORT
  const masterKeyFile = settings.MASTER_KEY_FILE || data.file(FILES.masterKey)
  const isNamed = settings.MASTER_KEY_FILE !== ''
  loadMasterKeys(masterKeyFile, { create: true, isNamed }, random)

  const folder = folderOf('postgres')
  const postgres = createPostgresPair({
    binaries: findPostgres(find, { version: clusterVersion(join(folder, POSTGRES_NAMES[0])) }),
    folder,
    within: data.path,
    password: ensurePassword(join(home, 'postgres.password'), random),
    environment: forForeign(),
    ports: { 'postgres-1': portOf('postgres-1'), 'postgres-2': portOf('postgres-2') },
    report,
  })

  writeSecretFile(data.file(FILES.storeUrl), postgres.url)

  /** The URL of several servers as one program reaches them. */
  const routed = async (from: string, url: string, names: readonly string[]): Promise<string> => {
    let text = url
    for (const name of names) {
      text = text.replace(addressOf(name), await route(from, name, addressOf(name)))
    }
    return text
  }
  const listOf = (from: string): Promise<string[]> =>
    Promise.all(PROCESSORS.map((name) => route(from, name, addressOf(name))))

  const own = async (
    name: string,
    main: OwnProgram,
    given: Partial<Record<SettingName, string>>,
  ): Promise<() => Program> => {
    const addresses = {
      DATA_DIR: folderOf(name),
      STORE_URL: await routed(name, postgres.url, POSTGRES_NAMES),
      NATS_URL: await routed(name, natsUrl, NATS),
      PROCESSORS: (await listOf(name)).join(),
      ...credentials.settingsOf(main),
      ...given,
    }
    const flags = NODE_FLAGS[main] ?? []
    return () => ({
      command: process.execPath,
      arguments: [...flags, join(projectRoot(), '.build', main)],
      environment: { ...forChild(main, addresses), UWS_HTTP_MAX_HEADERS_SIZE: '8192' },
      readyWhen: 'message',
      ...(STOPPED_BEFORE.includes(main) ? {} : { canReplace: true }),
    })
  }

  const natsServers = NATS.map((name) => {
    const folder = folderOf(name)
    const files = {
      file: (file: string) => join(file.endsWith('.password') ? home : folder, file),
      folder: (file: string) => folderOf(join(name, file)),
    }
    const others = NATS.filter((other) => other !== name).map((other) => portOf(`${other} route`))
    const member = { name, port: portOf(`${name} route`), others }
    return { name, server: natsServer(natsBinary, files, forForeign(), random, member) }
  })
  const [firstNats] = natsServers
  const natsUrl = (firstNats?.server.url(portOf('nats-1')) ?? '').replace(
    addressOf('nats-1'),
    NATS.map(addressOf).join(),
  )

  const databases = POSTGRES_NAMES.map((name): ClusterProgram => ({
    ...{ name, role: 'postgres', shard: '', address: addressOf(name) },
    program: () => postgres.program(name),
    describe: () =>
      name === postgres.primary()
        ? `${addressOf(name)}, primary`
        : `${addressOf(name)}, synchronous standby`,
  }))
  const transport = natsServers.map(({ name, server }): ClusterProgram => ({
    ...{ name, role: 'nats', shard: '', address: addressOf(name) },
    program: () => server.program(portOf(name)),
    describe: () => addressOf(name),
  }))
  const rail: ClusterProgram = {
    ...{ name: 'rail', role: 'rail', shard: '', address: addressOf('rail') },
    program: await own('rail', 'src/rails/sandbox/main.js', {
      DATA_DIR: data.path, // where the audit and the statement look
      RAIL_LISTEN: addressOf('rail'),
    }),
    describe: () => `${addressOf('rail')}, sandbox bank network`,
  }
  const isScreened = settings.SCREENING === 'sandbox'
  const screening: ClusterProgram = {
    ...{ name: 'screening', role: 'screening', shard: '', address: addressOf('screening') },
    program: await own('screening', SCREENING, { SCREENING_LISTEN: addressOf('screening') }),
    describe: () => `${addressOf('screening')}, decides by reference`,
  }
  const processors = await Promise.all(
    PROCESSORS.map(async (name, index): Promise<ClusterProgram> => {
      const shard = SHARDS[index]
      let wasReady = false
      const first = await own(name, 'src/processor/main.js', {
        ...(shard === undefined ? { CLUSTER: 'spare' } : { CLUSTER: 'member', SHARD: shard }),
        PROCESSOR_NAME: name,
        WEBHOOK_POOLS: String(POOLS.length),
        MASTER_KEY_FILE: masterKeyFile,
        GRPC_HOST: LOOPBACK,
        GRPC_PORT: String(portOf(name)),
        GRPC_ADVERTISE: await route('gateway', name, addressOf(name)),
        RAIL_ADDRESS: await route(name, 'rail', addressOf('rail')),
        ...(isScreened
          ? { SCREENING_ADDRESS: await route(name, 'screening', addressOf('screening')) }
          : {}),
      })
      const program = (): Program => {
        const given = first()
        // The setting only begins recovery mode of a member's shard; its books keep the mode.
        if (!wasReady && name !== SPARE) return given
        return { ...given, environment: { ...given.environment, RECOVERY: 'no' } }
      }
      const describe = (info: ReadyInfo): string => {
        wasReady = true
        return info['shard'] === undefined
          ? `${addressOf(name)}, spare`
          : `${addressOf(name)}, serves ${String(info['shard'])}`
      }
      return { name, role: 'processor', shard: '', address: addressOf(name), program, describe }
    }),
  )
  const pools = await Promise.all(
    POOLS.map(async (number): Promise<ClusterProgram> => {
      const name = `webhooks-${number}`
      const shard = webhookSchema(settings.WEBHOOK_POOL_SCHEMA, number)
      const program = await own(name, POOL, { WEBHOOK_POOL_NUMBER: String(number) })
      const describe = (): string => `delivers webhooks from ${shard}`
      return { name, role: 'webhooks', shard, address: '', program, describe }
    }),
  )
  const gateways = await Promise.all(
    GATEWAY_HOSTS.map(async (host, index): Promise<ClusterProgram> => {
      const name = `gateway-${index + 1}`
      const program = await own(name, 'gateway/main.js', {
        HTTP_HOST: host,
        HTTP_PORT: String(httpPort),
      })
      const address = `http://${host}:${httpPort}`
      return { name, role: 'gateway', shard: '', address, program, describe: () => address }
    }),
  )
  const consoleProgram = await own('console', CONSOLE, {})
  const console = await planConsole(settings, (port) => {
    const program = consoleProgram()
    return { ...program, environment: { ...program.environment, CONSOLE_PORT: port } }
  })
  const isPrimary = ({ name }: ClusterProgram): boolean => name === postgres.primary()
  return {
    postgres,
    stages: [
      databases.filter(isPrimary),
      databases.filter((database) => !isPrimary(database)),
      [...transport, rail, ...(isScreened ? [screening] : [])],
      processors.filter(({ name }) => name !== SPARE),
      // Each member has its shard by then.
      [...processors.filter(({ name }) => name === SPARE), ...pools, ...gateways],
    ],
    ...(console === undefined ? {} : { console }),
    baseUrl: `http://${LOOPBACK}:${httpPort}`,
    grpcAddress: addressOf('processor-1'),
    processors: PROCESSORS.map(addressOf),
    shards: SHARDS,
  }
}

/** Chosen before the start, because each program gets the addresses of the others. */
async function portsFor(names: readonly string[]): Promise<(name: string) => number> {
  const ports = new Map<string, number>()
  for (const name of names) ports.set(name, await freePort(LOOPBACK))
  return (name) => ports.get(name) ?? 0
}
