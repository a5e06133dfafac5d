/**
 * The whole stack: started in stages, supervised, stopped in reverse order.
 *
 * - A process starts when those it depends on are ready.
 * - A start that fails or is stopped leaves no process behind.
 */
import { relative } from 'node:path'
import type { DemoCredentials } from '../../protos/types/causeway/operator/v1/DemoCredentials.js'
import type { Clock } from '../base/clock.js'
import { freeBytesOf, MIB, watchFreeSpace } from '../files/free_space.js'
import { NO_LOG, openGrpcTls } from '../grpc/tls.js'
import { createLog } from '../base/log.js'
import { opsListen, type OpsHttp } from '../process/ops_http.js'
import type { Random } from '../base/random.js'
import { FILES } from '../base/subjects.js'
import { StartupError } from './startup_error.js'
import { createCredentials, type Credentials } from './credentials.js'
import type { DataFolder } from './data_folder.js'
import type { StackEnvironment } from './environment.js'
import { createIntegrity } from './integrity.js'
import { manageProcess, type ManagedProcess } from './managed_process.js'
import { openLogFile } from './log_file.js'
import { ensurePassword, natsServer, type NatsServer } from './nats_server.js'
import {
  clusterVersion,
  findPostgres,
  postgresServer,
  type PostgresServer,
} from './postgres_server.js'
import { openOpsServer } from './ops_server.js'
import type { PlannedProgram } from './program.js'
import { baseUrl, docsUrl, grpcAddress, planStack, withMetrics, type Plan } from './programs.js'
import { removePidFile, writePidFile } from './pid_file.js'
import { RESTART_FILE, restartEach, untilSettled } from './rolling_restart.js'
import { ensureDemo, writeSandboxFile, type ProcessorAccess } from './sandbox_file.js'
import type { Terminal } from './terminal.js'

export const RUN_FILE = 'run.json'
/** Not ours: its own tools replace it. */
const POSTGRES = 'postgres'

export interface StackOptions {
  readonly environment: StackEnvironment
  readonly data: DataFolder
  readonly clock: Clock
  readonly random: Random
  readonly terminal: Terminal
  /** A required process ended for good: the stack must stop. */
  readonly onRefused: (why: string, exitCode: number) => void
}

export interface Stack {
  /** Resolves when everything is ready, or the stack was stopped. @throws StartupError */
  start(): Promise<void>
  /** Replaces every process but PostgreSQL. Never rejects. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function createStack(options: StackOptions): Promise<Stack> {
  const { environment, data, clock, terminal } = options
  const { settings } = environment
  const credentials = createCredentials(settings, data, options.random)
  const servers = { nats: bundledNats(options), postgres: bundledPostgres(options) }
  const plan = await planStack(environment, data, credentials, servers, clock.now())
  const stages = plan.stages.map((stage) => stage.map((planned) => manage(planned)))
  const managedProcesses = stages.flat()
  const console = plan.console && {
    url: plan.console.url,
    managed: manage({
      ...plan.console,
      program: () => withMetrics(plan.console!.program(), ops?.url),
    }),
  }
  const everyProcess = [...managedProcesses, ...(console === undefined ? [] : [console.managed])]
  let stopping = false
  let started = false
  let ops: OpsHttp | undefined
  const integrityLog = openLogFile(`${data.folder('logs')}/integrity.log`)
  const ownLog = openLogFile(`${data.folder('logs')}/supervisor.log`)
  const log = createLog('supervisor', settings, ownLog)
  const integrity = createIntegrity({
    folder: data.path,
    log: createLog('integrity', settings, integrityLog),
    report: (line) => terminal.error(line),
  })

  const disk = watchFreeSpace({
    reserveBytes: settings.DISK_RESERVE_MB * MIB,
    read: () => freeBytesOf(data.path),
    log: {
      warn: (_facts, text) => terminal.error(text),
      info: (_facts, text) => terminal.info(text),
    },
  })

  function manage(planned: PlannedProgram): ManagedProcess {
    const { name } = planned
    const managed = manageProcess({
      name,
      program: () => planned.program(),
      logPath: `${data.folder('logs')}/${name}.log`,
      clock,
      isStopping: () => stopping,
      onReady: (info, isRestart) => {
        const where = planned.describe(info)
        recordRun()
        log.info({ program: name, pid: managed.pid, is_restart: isRestart }, 'process is ready')
        if (isRestart) terminal.info(`${name} is ready again`)
        else if (name !== plan.console?.name) terminal.ready(name, where)
      },
      onSlow: (line) =>
        terminal.info(`  ${name} is not ready yet${line === '' ? '' : `: ${line}`}`),
      onLost: (why, restartInMs) => {
        log.error({ program: name, reason: why, restart_in_ms: restartInMs }, 'process ended')
        terminal.error(`${name} ended (${why}); restarting in ${restartInMs / 1000} s`)
      },
      onRefused: (why, exitCode) => {
        log.fatal({ program: name, reason: why, exit_code: exitCode }, 'process ended for good')
        options.onRefused(`${name} ended: ${why}`, exitCode)
      },
    })
    return managed
  }

  const startOne = async (managed: ManagedProcess): Promise<void> => {
    log.info({ program: managed.name }, 'process starts')
    try {
      await managed.start()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.fatal({ program: managed.name, reason }, 'process does not start')
      throw error
    }
  }

  const stopOne = async (managed: ManagedProcess): Promise<void> => {
    const { name, pid } = managed
    await managed.stop()
    if (pid !== undefined)
      log.info({ program: name, pid, reason: 'the stack stops' }, 'process ended')
  }

  /** A failed write, e.g. on a full disk, must not stop running processes. */
  const recordRun = (): void => {
    const pids = new Map<string, number>()
    for (const { name, pid } of everyProcess) if (pid !== undefined) pids.set(name, pid)
    try {
      writePidFile(data.file(RUN_FILE), pids)
    } catch (error) {
      terminal.error(`${RUN_FILE} cannot be written (${String(error)})`)
    }
  }

  const start = async (): Promise<void> => {
    ops = await openOpsServer(opsListen(settings), {
      managedProcesses,
      console,
      isStarted: () => started,
      integrity: () => integrity.state,
      disk,
    })
    await disk.start()
    let demo: DemoCredentials = {}
    for (const stage of stages) {
      if (stopping) return
      if (stage === stages.at(-1)) demo = await ensureDemo(processorAccess(), clock)
      const serving = stage.map(startOne)
      recordRun()
      await Promise.all(serving)
    }
    announce(ops.url, demo)
  }

  const processorAccess = (): ProcessorAccess => ({
    addresses: () => [grpcAddress(settings, plan.ports.grpc)],
    token: credentials.supervisorToken,
    tls: openGrpcTls(settings, NO_LOG),
  })

  const announce = (opsUrl: string, demo: DemoCredentials): void => {
    if (stopping) return
    const sandboxFile = data.file(FILES.sandbox)
    const clients = addresses(options, plan, credentials, opsUrl)
    const sandbox = writeSandboxFile(sandboxFile, clients, demo)
    started = true
    terminal.info(`  health and metrics: ${opsUrl}`)
    terminal.info(
      `  sandbox partner ${sandbox.partner_id}: credentials in ${relativePath(sandboxFile)}`,
    )
    terminal.info(`  logs: ${relativePath(data.file('logs'))}/`)
    if (console !== undefined) terminal.info(`  console for operators: ${console.url}`)
    const docs = docsUrl(settings, plan.ports.http)
    if (docs !== undefined) terminal.info(`  documentation: ${docs}`)
    terminal.info(`ready: ${sandbox.base_url}`)
    integrity.start()
    void startConsole()
  }

  /** The stack serves without it. */
  const startConsole = async (): Promise<void> => {
    if (console === undefined || stopping) return
    try {
      await startOne(console.managed)
    } catch (error) {
      if (!stopping) terminal.error(error instanceof Error ? error.message : String(error))
    }
  }

  const restart = (): Promise<void> =>
    restartEach(
      everyProcess.filter(({ name }) => name !== POSTGRES),
      {
        ...{ file: data.file(RESTART_FILE), clock, terminal, log },
        isStopping: () => stopping,
        settled: () =>
          untilSettled(() => stopping || managedProcesses.every(({ isReady }) => isReady), clock),
      },
    )

  const stop = async (): Promise<void> => {
    stopping = true
    integrity.stop()
    for (const managed of everyProcess.toReversed()) await stopOne(managed)
    await disk.stop()
    await ops?.close()
    await integrityLog.close()
    await ownLog.close()
    plan.cleanUp()
    removePidFile(data.file(RUN_FILE))
  }

  return { start, restart, stop }
}

function bundledNats({ environment, data, random }: StackOptions): NatsServer | undefined {
  if (environment.settings.NATS_URL !== '') return undefined
  const binary = environment.find('nats-server')
  if (binary === undefined) {
    throw new StartupError(
      'nats-server is missing: install it (apt-get install nats-server), or set NATS_URL.',
    )
  }
  return natsServer(binary, data, environment.forForeign(), random)
}

function bundledPostgres({ environment, data, random }: StackOptions): PostgresServer | undefined {
  const { STORE, STORE_URL } = environment.settings
  if (STORE === 'sqlite' || STORE_URL !== '') return undefined
  const folder = data.file('postgres')
  const version = clusterVersion(folder)
  return postgresServer({
    binaries: findPostgres((program) => environment.find(program), { version }),
    folder,
    within: data.path,
    password: ensurePassword(data.file('postgres.password'), random),
    environment: environment.forForeign(),
  })
}

const addresses = (
  { environment: { settings } }: StackOptions,
  plan: Plan,
  { internalToken }: Credentials,
  opsUrl: string,
) => ({
  base_url: baseUrl(settings, plan.ports.http),
  host: settings.SANDBOX_HOSTS[0] ?? 'api.localhost',
  grpc_address: grpcAddress(settings, plan.ports.grpc),
  internal_token: internalToken,
  ops_url: opsUrl,
  ...(plan.console === undefined ? {} : { console_url: plan.console.url }),
  brand: settings.BRAND,
  serves_production: settings.PRODUCTION_HOSTS.length > 0,
})

/** The path relative to the working folder, if inside. */
function relativePath(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : fromHere
}
