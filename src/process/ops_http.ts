/**
 * Health and metrics over HTTP: `/healthz`, `/readyz`, `/metrics`.
 *
 * - `/readyz?role=ROLE` is the readiness of one role; 404 without that role in this process.
 * - `/metrics?process=NAME` is the page of one process of a stack.
 * - A request must name a loopback host or one of `hosts`, which prevents DNS rebinding from a web
 *   page. A server beyond loopback also accepts every IP address: a page cannot have one of ours.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { allowedHosts } from './allowed_hosts.js'
import { joinAddress, localHost } from '../base/network.js'
import type { Settings } from '../settings/settings.js'

const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Roles of processes. Only the supervisor, or a process without one, serves their readiness. */
const ROLES = ['gateway', 'processor', 'webhooks', 'rail'] as const
export type Role = (typeof ROLES)[number]

/** Shown as JSON. */
export interface Readiness {
  readonly ready: boolean
}

export interface OpsListen {
  readonly host: string
  readonly port: number
  /** Host names accepted besides loopback ones. */
  readonly hosts: readonly string[]
}

export interface OpsContent {
  /** Where `/` leads. Absent means that it leads nowhere. */
  readonly home?: string
  /** Without a role, the whole process's. Undefined for an unknown role. */
  readonly readiness: (role: Role | undefined) => Readiness | undefined
  /** Without a name, the whole stack's. Undefined for an unknown process. */
  readonly metrics: (process: string | undefined) => Promise<string | undefined>
}

export interface OpsHttp {
  readonly url: string
  close(): Promise<void>
}

export const opsListen = (settings: Settings): OpsListen => ({
  host: settings.OPS_HOST,
  port: settings.OPS_PORT,
  hosts: settings.OPS_HOSTS,
})

export async function openOpsHttp(
  { host, port, hosts }: OpsListen,
  content: OpsContent,
): Promise<OpsHttp> {
  const isAllowed = allowedHosts(host, hosts)
  const server = createServer((request, response) => {
    if (!isAllowed(request.headers.host)) {
      return json(response, 421, { error: 'unknown host: see OPS_HOSTS' })
    }
    respond(request.url ?? '/', response, content).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : new Error(String(error))),
    )
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, done)
  })
  const { port: bound } = server.address() as AddressInfo
  const url = `http://${joinAddress({ host: localHost(host), port: bound })}`
  return { url, close: () => close(server) }
}

/** The readiness of a process with one role. */
export const ownReadiness =
  (own: Role, readiness: () => Readiness): OpsContent['readiness'] =>
  (role) =>
    role === undefined || role === own ? readiness() : undefined

async function respond(url: string, response: ServerResponse, content: OpsContent): Promise<void> {
  const [path, query] = url.split('?', 2)
  if (path === '/healthz') return json(response, 200, { alive: true })
  if (path === '/readyz') return respondReady(query, response, content)
  if (path === '/' && content.home !== undefined) return redirect(response, content.home)
  if (path !== '/metrics') return json(response, 404, { error: 'not found' })
  const name = new URLSearchParams(query).get('process')
  const text = await content.metrics(name ?? undefined)
  if (text === undefined) return json(response, 404, { error: `no process ${name} here` })
  response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE })
  response.end(text)
}

function respondReady(
  query: string | undefined,
  response: ServerResponse,
  { readiness }: OpsContent,
): void {
  const name = new URLSearchParams(query).get('role')
  const role = ROLES.find((known) => known === name)
  const state = name !== null && role === undefined ? undefined : readiness(role)
  if (state === undefined) return json(response, 404, { error: `no role ${name} here` })
  json(response, state.ready ? 200 : 503, state)
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location })
  response.end()
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(value)}\n`)
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((done) => server.close(() => done()))
}
