/**
 * The whole stack: started in stages, kept, stopped in the reverse order.
 *
 * Owns: that order, and the files that describe a run. Does not own: a single process
 * (managed_process).
 *
 * - A process is started when those it needs serve.
 * - A start that fails, or is stopped half-way, leaves no process behind.
 */
import { relative } from 'node:path'
import type { Clock } from '../base/clock.js'
import { freeBytesOf, MIB, watchFreeSpace } from '../base/free_space.js'
import { ensureInternalToken } from '../base/internal_token.js'
import type { Random } from '../base/random.js'
import { FILES } from '../base/subjects.js'
import { StartupError } from './startup_error.js'
import type { DataFolder } from './data_folder.js'
import type { StackEnvironment } from './environment.js'
import { createIntegrity } from './integrity.js'
import { manageProcess, type ManagedProcess } from './managed_process.js'
import { openLogFile } from './log_file.js'
import { natsServer, type NatsServer } from './nats_server.js'
import { openOpsServer, type OpsServer } from './ops_server.js'
import { baseUrl, planStack, type Plan, type PlannedProgram } from './programs.js'
import { removePidFile, writePidFile } from './pid_file.js'
import { writeSandboxFile } from './sandbox_file.js'
import type { Terminal } from './terminal.js'

export const RUN_FILE = 'run.json'

export interface StackOptions {
  readonly environment: StackEnvironment
  readonly data: DataFolder
  readonly clock: Clock
  readonly random: Random
  readonly terminal: Terminal
  /** A process ended for good, and without it the stack is of no use. */
  readonly onRefused: (why: string, exitCode: number) => void
}

export interface Stack {
  /** Resolves when everything serves, or when it was stopped meanwhile. @throws StartupError */
  start(): Promise<void>
  stop(): Promise<void>
}

export async function createStack(options: StackOptions): Promise<Stack> {
  const { environment, data, clock, terminal } = options
  const { settings } = environment
  const plan = await planStack(environment, data, ownNats(options))
  const stages = plan.stages.map((stage) => stage.map((planned) => manage(planned)))
  const managedProcesses = stages.flat()
  let stopping = false
  let started = false
  let ops: OpsServer | undefined
  const integrityLog = openLogFile(`${data.folder('logs')}/integrity.log`)
  const integrity = createIntegrity({
    folder: data.path,
    clock,
    log: integrityLog,
    tell: (line) => terminal.trouble(line),
  })

  const disk = watchFreeSpace({
    reserveBytes: settings.DISK_RESERVE_MB * MIB,
    read: () => freeBytesOf(data.path),
    log: {
      warn: (_facts, text) => terminal.trouble(text),
      info: (_facts, text) => terminal.say(text),
    },
  })

  function manage(planned: PlannedProgram): ManagedProcess {
    const { name } = planned
    return manageProcess({
      name,
      program: () => planned.program(),
      logPath: `${data.folder('logs')}/${name}.log`,
      clock,
      isStopping: () => stopping,
      onReady: (info, isRestart) => {
        const where = planned.describe(info)
        recordRun()
        if (isRestart) terminal.say(`${name} serves again`)
        else terminal.up(name, where)
      },
      onLost: (why, againAfterMs) =>
        terminal.trouble(`${name} ended (${why}); starting it again in ${againAfterMs / 1000} s`),
      onRefused: (why, exitCode) => options.onRefused(`${name} ended: ${why}`, exitCode),
    })
  }

  /** A full disk keeps the file as it was; that must not end what still runs. */
  const recordRun = (): void => {
    const pids = new Map<string, number>()
    for (const { name, pid } of managedProcesses) if (pid !== undefined) pids.set(name, pid)
    try {
      writePidFile(data.file(RUN_FILE), pids)
    } catch (error) {
      terminal.trouble(`${RUN_FILE} cannot be written (${String(error)})`)
    }
  }

  const start = async (): Promise<void> => {
    const token = ensureInternalToken({ ...settings, DATA_DIR: data.path }, options.random)
    ops = await openOpsServer(settings.OPS_PORT, settings.OPS_HOSTS, {
      managedProcesses,
      isStarted: () => started,
      integrity: () => integrity.state,
      disk,
    })
    await disk.start()
    for (const stage of stages) {
      if (stopping) return
      const serving = stage.map((managed) => managed.start())
      recordRun()
      await Promise.all(serving)
    }
    await announce(token, ops.url)
  }

  const announce = async (token: string, opsUrl: string): Promise<void> => {
    const sandboxFile = data.file(FILES.sandbox)
    const sandbox = await writeSandboxFile(
      sandboxFile,
      addresses(options, plan, token, opsUrl),
      clock,
    )
    if (stopping) return
    started = true
    terminal.say(`  health and metrics: ${opsUrl}`)
    terminal.say(`  sandbox partner ${sandbox.partner_id}: credentials in ${near(sandboxFile)}`)
    terminal.say(`  logs: ${near(data.file('logs'))}/`)
    terminal.say(`ready: ${sandbox.base_url}`)
    integrity.start()
  }

  const stop = async (): Promise<void> => {
    stopping = true
    integrity.stop()
    for (const managed of managedProcesses.toReversed()) await managed.stop()
    await disk.stop()
    await ops?.close()
    await integrityLog.close()
    plan.tidy()
    removePidFile(data.file(RUN_FILE))
  }

  return { start, stop }
}

function ownNats({ environment, data, random }: StackOptions): NatsServer | undefined {
  if (environment.settings.NATS_URL !== '') return undefined
  const binary = environment.find('nats-server')
  if (binary === undefined) {
    throw new StartupError(
      'nats-server is missing: install it (apt-get install nats-server), or set NATS_URL.',
    )
  }
  return natsServer(binary, data, environment.forForeign(), random)
}

const addresses = (
  { environment: { settings } }: StackOptions,
  { ports }: Plan,
  token: string,
  opsUrl: string,
) => ({
  base_url: baseUrl(settings, ports.http),
  host: settings.SANDBOX_HOSTS[0] ?? 'api.localhost',
  grpc_address: `127.0.0.1:${ports.grpc}`,
  internal_token: token,
  ops_url: opsUrl,
  brand: settings.BRAND,
  serves_production: settings.PRODUCTION_HOSTS.length > 0,
})

/** A path as one would type it here. */
function near(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : fromHere
}
