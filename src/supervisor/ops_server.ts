/**
 * The ops port: `/healthz`, `/readyz` and `/metrics` of the whole stack.
 *
 * - `/healthz` is about the supervisor. `/readyz` is 200 while every process is ready; a nearly
 *   full disk and recovery mode only stop writes, so it stays 200. With a role it counts only the
 *   processes that this role needs: a gateway serves while the bus is away.
 * - `mode` is the most severe one of the processes; `reasons` names each process that is in another
 *   one than normal.
 */
import type { FreeSpace } from '../base/free_space.js'
import { openOpsHttp, type OpsHttp, type OpsListen, type Role } from '../base/ops_http.js'
import { mergeMetrics } from './metrics_merge.js'
import type { IntegrityState } from './integrity.js'
import type { ManagedProcess } from './managed_process.js'

type Disk = Pick<FreeSpace, 'isLow' | 'freeBytes'>

export interface StackState {
  readonly managedProcesses: readonly ManagedProcess[]
  readonly isStarted: () => boolean
  readonly integrity: () => IntegrityState
  readonly disk: Disk
}

/** Kinds of processes; the name of one of several ends with its number. */
const NEEDED: Readonly<Record<Role, readonly string[]>> = {
  gateway: ['gateway', 'processor'],
  processor: ['processor'],
  webhooks: ['webhooks', 'processor', 'nats'],
  rail: ['rail'],
}

const kindOf = (name: string): string => name.replace(/-\d+$/, '')

export function openOpsServer(listen: OpsListen, stack: StackState): Promise<OpsHttp> {
  const { managedProcesses, isStarted, integrity, disk } = stack
  const readiness = (role: Role | undefined) => {
    const counted = managedProcesses.filter(
      ({ name }) => role === undefined || NEEDED[role].includes(kindOf(name)),
    )
    return {
      ready: isStarted() && counted.every(({ isReady }) => isReady),
      mode: modeOf(managedProcesses),
      ...reasonsOf(managedProcesses),
      processes: Object.fromEntries(counted.map(({ name, isReady }) => [name, isReady])),
      integrity: integrity(),
      disk: disk.isLow() ? 'low' : 'ok',
    }
  }
  const metrics = async (): Promise<string> => {
    const texts = await Promise.all(
      managedProcesses.map(async (managed) => [managed.name, await managed.metrics()] as const),
    )
    const own = ownMetrics(managedProcesses, integrity(), disk)
    return mergeMetrics(new Map([...texts, ['supervisor', own]]))
  }
  return openOpsHttp(listen, { readiness, metrics })
}

/** Of a processor (processor/recovery), the most severe first. */
const MODES = ['recovery', 'submissions_stopped', 'unverified']

const modeOf = (managedProcesses: readonly ManagedProcess[]): string =>
  MODES.find((wanted) => managedProcesses.some(({ mode }) => mode === wanted)) ?? 'normal'

function reasonsOf(managedProcesses: readonly ManagedProcess[]): object {
  const reasons = managedProcesses
    .filter(({ mode }) => mode !== undefined && MODES.includes(mode))
    .map(({ name, mode, modeReason = '' }) => [name, `${mode}: ${modeReason}`] as const)
  return reasons.length === 0 ? {} : { reasons: Object.fromEntries(reasons) }
}

function ownMetrics(
  managedProcesses: readonly ManagedProcess[],
  integrity: IntegrityState,
  disk: Disk,
): string {
  return [
    '# HELP causeway_process_up 1 while a process of the stack is ready.',
    '# TYPE causeway_process_up gauge',
    ...managedProcesses.map(
      ({ name, isReady }) => `causeway_process_up{process="${name}"} ${+isReady}`,
    ),
    '# HELP causeway_process_restarts_total Restarts of a process.',
    '# TYPE causeway_process_restarts_total counter',
    ...managedProcesses.map(
      ({ name, restarts }) => `causeway_process_restarts_total{process="${name}"} ${restarts}`,
    ),
    '# HELP causeway_integrity_failed 1 when a database failed its integrity check.',
    '# TYPE causeway_integrity_failed gauge',
    `causeway_integrity_failed ${+(integrity === 'failed')}`,
    '# HELP causeway_disk_free_bytes Free bytes on the file system of DATA_DIR.',
    '# TYPE causeway_disk_free_bytes gauge',
    `causeway_disk_free_bytes ${disk.freeBytes() ?? 'NaN'}`,
    '# HELP causeway_disk_low 1 while less than DISK_RESERVE_MB is free and writes are rejected.',
    '# TYPE causeway_disk_low gauge',
    `causeway_disk_low ${+disk.isLow()}`,
  ].join('\n')
}
