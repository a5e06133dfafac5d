/**
 * The ops port: `/healthz`, `/readyz` and `/metrics` of the whole stack.
 *
 * - Loopback only. A request must name a loopback host or one of `hosts`, which prevents DNS
 *   rebinding from a web page.
 * - `/healthz` is about the supervisor. `/readyz` is 200 while every process is ready; a nearly
 *   full disk only stops writes, so it stays 200.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FreeSpace } from '../base/free_space.js'
import { mergeMetrics } from './metrics_merge.js'
import type { IntegrityState } from './integrity.js'
import type { ManagedProcess } from './managed_process.js'

const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Disk = Pick<FreeSpace, 'isLow' | 'freeBytes'>

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
    if (!isAllowedHost(request.headers.host, hosts)) {
      return json(response, 421, { error: 'unknown host: see OPS_HOSTS' })
    }
    void answer(request.url ?? '', response, stack)
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, '127.0.0.1', done)
  })
  const { port: bound } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${bound}`, close: () => close(server) }
}

const LOOPBACK = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/

function isAllowedHost(header: string | undefined, hosts: readonly string[]): boolean {
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
    mergeMetrics(
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

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(value)}\n`)
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((done) => server.close(() => done()))
}
