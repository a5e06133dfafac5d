/**
 * Health and metrics of the whole stack, on a port of its own.
 *
 * Owns: `/healthz /readyz /metrics`. Does not own: what processes measure (each of them).
 *
 * - Loopback only: nothing here is for partners. A request must name a loopback host or one of
 *   `hosts`, so that a web page cannot reach the port through a name of its own (DNS rebinding).
 * - `/healthz` is about the supervisor, `/readyz` about every process: 200 only while all of them
 *   serve. A disk that is almost full ends writes alone, so it does not make it 503.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FreeSpace } from '../base/free_space.js'
import { joinExpositions } from './metrics_merge.js'
import type { IntegrityState } from './integrity.js'
import type { ManagedProcess } from './managed_process.js'

const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Disk = Pick<FreeSpace, 'isLow' | 'freeBytes'>

/** What is told of. */
export interface StackState {
  readonly managedProcesses: readonly ManagedProcess[]
  readonly isStarted: () => boolean
  readonly integrity: () => IntegrityState
  readonly disk: Disk
}

export interface OpsServer {
  readonly url: string
  close(): Promise<void>
}

export async function openOpsServer(
  port: number,
  hosts: readonly string[],
  stack: StackState,
): Promise<OpsServer> {
  const server = createServer((request, response) => {
    if (!isOurs(request.headers.host, hosts)) {
      return json(response, 421, { error: 'unknown host: see OPS_HOSTS' })
    }
    void answer(request.url ?? '', response, stack)
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, '127.0.0.1', done)
  })
  const { port: taken } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${taken}`, close: () => close(server) }
}

const LOOPBACK = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/

function isOurs(header: string | undefined, hosts: readonly string[]): boolean {
  const host = (header ?? '').replace(/:[0-9]*$/, '').toLowerCase()
  return LOOPBACK.test(host) || hosts.includes(host)
}

async function answer(
  url: string,
  response: ServerResponse,
  { managedProcesses, isStarted, integrity, disk }: StackState,
): Promise<void> {
  const path = url.split('?', 1)[0]
  if (path === '/healthz') return json(response, 200, { alive: true })
  if (path === '/readyz') {
    const ready = isStarted() && managedProcesses.every((managed) => managed.isReady)
    const processes = Object.fromEntries(
      managedProcesses.map(({ name, isReady }) => [name, isReady]),
    )
    return json(response, ready ? 200 : 503, {
      ready,
      mode: modeOf(managedProcesses),
      processes,
      integrity: integrity(),
      disk: disk.isLow() ? 'low' : 'ok',
    })
  }
  if (path !== '/metrics') return json(response, 404, { error: 'not found' })
  const texts = await Promise.all(
    managedProcesses.map(async (managed) => [managed.name, await managed.metrics()] as const),
  )
  response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE })
  response.end(
    joinExpositions(
      new Map([...texts, ['supervisor', ownMetrics(managedProcesses, integrity(), disk)]]),
    ),
  )
}

const modeOf = (managedProcesses: readonly ManagedProcess[]): string =>
  managedProcesses.some(({ isInRecovery }) => isInRecovery) ? 'recovery' : 'normal'

function ownMetrics(
  managedProcesses: readonly ManagedProcess[],
  integrity: IntegrityState,
  disk: Disk,
): string {
  return [
    '# HELP causeway_process_up Whether a process of the stack serves.',
    '# TYPE causeway_process_up gauge',
    ...managedProcesses.map(
      ({ name, isReady }) => `causeway_process_up{process="${name}"} ${+isReady}`,
    ),
    '# HELP causeway_process_restarts_total How often a process was started again.',
    '# TYPE causeway_process_restarts_total counter',
    ...managedProcesses.map(
      ({ name, restarts }) => `causeway_process_restarts_total{process="${name}"} ${restarts}`,
    ),
    '# HELP causeway_integrity_failed 1 when a database failed its check at the start.',
    '# TYPE causeway_integrity_failed gauge',
    `causeway_integrity_failed ${+(integrity === 'failed')}`,
    '# HELP causeway_disk_free_bytes Free space where DATA_DIR lies.',
    '# TYPE causeway_disk_free_bytes gauge',
    `causeway_disk_free_bytes ${disk.freeBytes() ?? 'NaN'}`,
    '# HELP causeway_disk_low 1 while less than DISK_RESERVE_MB is free and writes are refused.',
    '# TYPE causeway_disk_low gauge',
    `causeway_disk_low ${+disk.isLow()}`,
  ].join('\n')
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(value)}\n`)
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((done) => server.close(() => done()))
}
