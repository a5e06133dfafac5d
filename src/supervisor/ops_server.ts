/**
 * The ops port: `/healthz`, `/readyz` and `/metrics` of the whole stack.
 *
 * - `/healthz` is about the supervisor. `/readyz` is 200 while every process is ready; a nearly
 *   full disk and recovery mode only stop writes, so it stays 200. With a role it counts only the
 *   processes that this role needs: a gateway serves while the bus is away.
 * - `/metrics?process=NAME` is the page of one process.
 * - `mode` is the most severe one of the processes; `reasons` names each process that is in another
 *   one than normal, `degraded` each of which something does not work as it should.
 */
import { SECOND } from '../base/clock.js'
import type { FreeSpace } from '../files/free_space.js'
import { openOpsHttp, type OpsHttp, type OpsListen, type Role } from '../process/ops_http.js'
import { createMetrics, type Metrics } from '../metrics/metrics.js'
import { mergePages } from '../metrics/page_text.js'
import { reportProcess } from '../metrics/process_metrics.js'
import type { IntegrityState } from './integrity.js'
import { kindOf } from './kinds.js'
import type { ManagedProcess } from './managed_process.js'

const SUPERVISOR = 'supervisor'

type Disk = Pick<FreeSpace, 'isLow' | 'freeBytes'>

export interface OpsConsole {
  readonly url: string
  readonly managed: ManagedProcess
}

export interface StackState {
  readonly managedProcesses: readonly ManagedProcess[]
  /** No partner needs it, so it does not count for readiness. */
  readonly console?: OpsConsole | undefined
  readonly isStarted: () => boolean
  readonly integrity: () => IntegrityState
  readonly disk: Disk
}

/** By kind of process. */
const NEEDED: Readonly<Record<Role, readonly string[]>> = {
  gateway: ['gateway', 'processor'],
  processor: ['processor'],
  webhooks: ['webhooks', 'processor', 'nats'],
  rail: ['rail'],
}

export function openOpsServer(listen: OpsListen, stack: StackState): Promise<OpsHttp> {
  const { managedProcesses, console, isStarted, integrity, disk } = stack
  const all = [...managedProcesses, ...(console === undefined ? [] : [console.managed])]
  const readiness = (role: Role | undefined) => {
    const counted = managedProcesses.filter(
      ({ name }) => role === undefined || NEEDED[role].includes(kindOf(name)),
    )
    return {
      ready: isStarted() && counted.every(({ isReady }) => isReady),
      mode: modeOf(managedProcesses),
      ...reasonsOf(managedProcesses),
      ...degradedOf(managedProcesses),
      processes: Object.fromEntries(counted.map(({ name, isReady }) => [name, isReady])),
      integrity: integrity(),
      disk: disk.isLow() ? 'low' : 'ok',
    }
  }
  const own = ownMetrics({ ...stack, managedProcesses: all })
  const metrics = async (process: string | undefined): Promise<string | undefined> => {
    const sources = [
      ...all.map((managed) => [managed.name, () => managed.metrics()] as const),
      [SUPERVISOR, () => own.text()] as const,
    ].filter(([name]) => process === undefined || name === process)
    if (sources.length === 0) return undefined
    const pages = sources.map(async ([name, text]) => [name, await text()] as const)
    return mergePages(new Map(await Promise.all(pages)))
  }
  const home = console === undefined ? {} : { home: console.url }
  return openOpsHttp(listen, { readiness, metrics, ...home })
}

/** The modes of a processor besides normal (processor/recovery), the most severe first. */
const MODES = ['recovery', 'submissions_stopped', 'unverified']

const modeOf = (managedProcesses: readonly ManagedProcess[]): string =>
  MODES.find((wanted) => managedProcesses.some(({ mode }) => mode === wanted)) ?? 'normal'

function reasonsOf(managedProcesses: readonly ManagedProcess[]): object {
  const reasons = managedProcesses
    .filter(({ mode }) => mode !== undefined && MODES.includes(mode))
    .map(({ name, mode, modeReason = '' }) => [name, `${mode}: ${modeReason}`] as const)
  return reasons.length === 0 ? {} : { reasons: Object.fromEntries(reasons) }
}

function degradedOf(managedProcesses: readonly ManagedProcess[]): object {
  const degraded = managedProcesses.flatMap(({ name, degraded: fault }) =>
    fault === undefined ? [] : [[name, fault] as const],
  )
  return degraded.length === 0 ? {} : { degraded: Object.fromEntries(degraded) }
}

function ownMetrics({ managedProcesses, integrity, disk }: StackState): Metrics {
  const metrics = createMetrics()
  reportProcess(metrics)
  metrics.readAll('causeway_process_up', () =>
    managedProcesses.map(({ name, isReady }) => [Number(isReady), name]),
  )
  metrics.readAll('causeway_process_restarts_total', () =>
    managedProcesses.map(({ name, restarts }) => [restarts, name]),
  )
  metrics.readAll('causeway_process_pid', () =>
    managedProcesses.flatMap(({ name, pid }) => (pid === undefined ? [] : [[pid, name] as const])),
  )
  const servers = () =>
    managedProcesses.flatMap(({ name, server }) =>
      server === undefined ? [] : [{ name, ...server }],
    )
  metrics.readAll('causeway_server_info', () =>
    servers().map(({ name, version }) => [1, name, version]),
  )
  metrics.readAll('causeway_server_start_time_seconds', () =>
    servers().map(({ name, startedAt }) => [startedAt / SECOND, name]),
  )
  metrics.read('causeway_integrity_failed', () => Number(integrity() === 'failed'))
  metrics.read('causeway_disk_free_bytes', () => disk.freeBytes())
  metrics.read('causeway_disk_low', () => Number(disk.isLow()))
  return metrics
}
