/**
 * The trial cluster: the whole service scaled out on one machine, started in stages, supervised,
 * stopped in reverse order.
 *
 * Does not own: the programs (cluster_plan), the databases' roles (postgres_pair).
 *
 * - A start that fails or is stopped leaves no process behind.
 */
import type { DemoCredentials } from '../../protos/types/causeway/operator/v1/DemoCredentials.js'
import type { ReadyInfo } from '../process/child.js'
import type { Clock } from '../base/clock.js'
import { NO_LOG, openGrpcTls } from '../grpc/tls.js'
import { opsListen, type OpsHttp } from '../process/ops_http.js'
import type { Random } from '../base/random.js'
import { FILES } from '../base/subjects.js'
import { createCredentials } from '../supervisor/credentials.js'
import type { DataFolder } from '../supervisor/data_folder.js'
import type { StackEnvironment } from '../supervisor/environment.js'
import { manageProcess, type ManagedProcess } from '../supervisor/managed_process.js'
import { openOpsServer, type OpsConsole } from '../supervisor/ops_server.js'
import { removePidFile, writePidFile } from '../supervisor/pid_file.js'
import type { Program } from '../supervisor/program.js'
import { withMetrics } from '../supervisor/programs.js'
import { ensureDemo, writeSandboxFile, type ProcessorAccess } from '../supervisor/sandbox_file.js'
import { RESTART_FILE, restartEach, untilSettled } from '../supervisor/rolling_restart.js'
import { RUN_FILE } from '../supervisor/stack.js'
import type { Terminal } from '../supervisor/terminal.js'
import { CLUSTER_FILE, writeClusterFile, type ClusterMember } from './cluster_file.js'
import { planCluster, type ClusterProgram, type AddressRoute } from './cluster_plan.js'
import { POSTGRES_NAMES, type PostgresName, type PostgresPair } from './postgres_pair.js'

export interface TrialClusterOptions {
  readonly environment: StackEnvironment
  readonly data: DataFolder
  readonly clock: Clock
  readonly random: Random
  readonly terminal: Terminal
  /** A process ended for good: the cluster must stop. */
  readonly onRefused: (why: string, exitCode: number) => void
  /** Default: each program dials the others' own addresses. */
  readonly route?: AddressRoute
  /** A program as it is run. Default: as it is. */
  readonly within?: (name: string, program: Program) => Program
}

export interface TrialCluster {
  /** Resolves when everything is ready, or the cluster was stopped. @throws StartupError */
  start(): Promise<void>
  /** Replaces every process but PostgreSQL. Never rejects. */
  restart(): Promise<void>
  stop(): Promise<void>
  members(): readonly ClusterMember[]
  readonly postgres: PostgresPair
  /** The gRPC addresses of the processors. */
  readonly processors: readonly string[]
}

interface Supervised {
  readonly planned: ClusterProgram
  readonly managed: ManagedProcess
}

const ALWAYS: AddressRoute = (_from, _to, address) => Promise.resolve(address)
const UNCHANGED = (_name: string, program: Program): Program => program
const NO_DISK = { isLow: () => false, freeBytes: () => null }

export async function createTrialCluster(options: TrialClusterOptions): Promise<TrialCluster> {
  const { environment, data, clock, random, terminal } = options
  const { route = ALWAYS, within = UNCHANGED } = options
  const { settings } = environment
  const credentials = createCredentials(settings, data, random)
  const report = (line: string): void => terminal.error(line)
  const plan = await planCluster({ environment, data, credentials, random, report, route })
  const { postgres } = plan
  /** By processor. */
  const serving = new Map<string, string>()
  let stopping = false
  let started = false
  let ops: OpsHttp | undefined

  const managedConsole = (): OpsConsole | undefined => {
    if (plan.console === undefined) return undefined
    const { url, name, program } = plan.console
    const managed = manageProcess({
      ...{ name, clock, program: () => within(name, withMetrics(program(), ops?.url)) },
      logPath: `${data.folder('logs')}/${name}.log`,
      isStopping: () => stopping,
      onReady: () => record(),
      onLost: (why, restartInMs) => {
        terminal.error(`${name} ended (${why}); restarting in ${restartInMs / 1000} s`)
      },
      onRefused: (why) => terminal.error(`${name} ended: ${why}`),
    })
    return { url, managed }
  }

  const manage = (planned: ClusterProgram): Supervised => {
    const { name } = planned
    const managed: ManagedProcess = manageProcess({
      name,
      program: () => within(name, planned.program()),
      logPath: `${data.folder('logs')}/${name}.log`,
      clock,
      isStopping: () => stopping,
      onReady: (info, isRestart) => {
        if (isPostgres(name)) postgres.started(name)
        if (info['shard'] === undefined) serving.delete(name)
        if (isRestart) terminal.info(`${name} is ready again: ${planned.describe(info)}`)
        else terminal.ready(name, planned.describe(info))
        record()
      },
      onReport: (info) => serves(name, info),
      onLost: (why, restartInMs) => {
        serving.delete(name)
        if (isPostgres(name)) postgres.lost(name)
        record()
        terminal.error(`${name} ended (${why}); restarting in ${restartInMs / 1000} s`)
      },
      onRefused: (why, exitCode) => options.onRefused(`${name} ended: ${why}`, exitCode),
    })
    return { planned, managed }
  }

  const serves = (name: string, info: ReadyInfo): void => {
    const shard = info['shard']
    if (typeof shard !== 'string') return
    for (const [other, served] of serving) if (served === shard) serving.delete(other)
    serving.set(name, shard)
    record()
    if (started) terminal.info(`${name} serves ${shard}`)
  }

  const stages = plan.stages.map((stage) => stage.map(manage))
  const all = stages.flat()
  const console = managedConsole()
  const members = (): readonly ClusterMember[] =>
    all.map(({ planned: { name, role, shard, address }, managed }) => ({
      name,
      role,
      pid: managed.isReady ? (managed.pid ?? 0) : 0,
      shard: serving.get(name) ?? shard,
      address,
    }))

  const record = (): void => {
    const pids = new Map<string, number>()
    const running = [...all.map(({ managed }) => managed), ...(console ? [console.managed] : [])]
    for (const managed of running)
      if (managed.pid !== undefined) pids.set(managed.name, managed.pid)
    try {
      writePidFile(data.file(RUN_FILE), pids)
      writeClusterFile(data.file(CLUSTER_FILE), members())
    } catch (error) {
      terminal.error(`${CLUSTER_FILE} cannot be written (${String(error)})`)
    }
  }

  const start = async (): Promise<void> => {
    ops = await openOpsServer(opsListen(settings), {
      managedProcesses: all.map(({ managed }) => managed),
      console,
      isStarted: () => started,
      integrity: () => 'ok',
      disk: NO_DISK,
    })
    let demo: DemoCredentials = {}
    for (const [index, stage] of stages.entries()) {
      if (stopping) return
      if (index === 1) await postgres.prepareStandby()
      if (stage === stages.at(-1)) demo = await ensureDemo(processorAccess(), clock)
      await Promise.all(stage.map(({ managed }) => managed.start()))
    }
    announce(ops.url, demo)
  }

  /** Once every shard has one; that of the first shard first. */
  const ownersByShard = (): readonly string[] => {
    if (serving.size < plan.shards.length) return []
    const owners = members().filter(({ name }) => serving.has(name))
    return owners.sort((a, b) => (a.shard < b.shard ? -1 : 1)).map(({ address }) => address)
  }

  const processorAccess = (): ProcessorAccess => ({
    addresses: ownersByShard,
    token: credentials.supervisorToken,
    tls: openGrpcTls(settings, NO_LOG),
  })

  const announce = (opsUrl: string, demo: DemoCredentials): void => {
    if (stopping) return
    const { baseUrl: base_url, grpcAddress: address } = plan
    const clients = {
      base_url,
      host: settings.SANDBOX_HOSTS[0] ?? 'api.localhost',
      grpc_address: address,
      internal_token: credentials.internalToken,
      ops_url: opsUrl,
      ...(console === undefined ? {} : { console_url: console.url }),
      brand: settings.BRAND,
      serves_production: settings.PRODUCTION_HOSTS.length > 0,
    }
    writeSandboxFile(data.file(FILES.sandbox), clients, demo)
    started = true
    record()
    terminal.info(`  health and metrics: ${opsUrl}`)
    if (console !== undefined) terminal.info(`  console for operators: ${console.url}`)
    terminal.info(`  processes: ${data.file(CLUSTER_FILE)}`)
    terminal.info(`  operators: PROCESSORS=${plan.processors.join()} make ops ARGS="shard list"`)
    terminal.info(`ready: ${base_url}`)
    console?.managed.start().catch((error: unknown) => {
      if (!stopping) terminal.error(error instanceof Error ? error.message : String(error))
    })
  }

  /** Every shard has its processor, and every process is ready. */
  const isSettled = (): boolean =>
    stopping || (serving.size >= plan.shards.length && all.every(({ managed }) => managed.isReady))

  const restart = (): Promise<void> =>
    restartEach(
      [...all.map(({ managed }) => managed), ...(console ? [console.managed] : [])].filter(
        ({ name }) => !isPostgres(name),
      ),
      {
        ...{ file: data.file(RESTART_FILE), clock, terminal, log: NO_LOG },
        isStopping: () => stopping,
        settled: () => untilSettled(isSettled, clock),
      },
    )

  const stop = async (): Promise<void> => {
    stopping = true
    await console?.managed.stop()
    await postgres.close()
    for (const stage of stages.toReversed()) {
      await Promise.all(stage.map(({ managed }) => managed.stop()))
    }
    await ops?.close()
    removePidFile(data.file(RUN_FILE))
  }

  return { start, restart, stop, members, postgres, processors: plan.processors }
}

const isPostgres = (name: string): name is PostgresName =>
  (POSTGRES_NAMES as readonly string[]).includes(name)
