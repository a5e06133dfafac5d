/**
 * Health and metrics endpoint of one gateway: `/healthz`, `/readyz`, `/metrics`.
 *
 * It listens on loopback for the supervisor and serves nothing secret.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'

export interface Readiness {
  readonly listening: boolean
  readonly streamOpen: boolean
  readonly directoryFresh: boolean
}

export interface OpsOptions {
  readonly registry: Registry
  readonly readiness: () => Readiness
}

export function createOps({ registry, readiness }: OpsOptions): Server {
  const respond = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === '/healthz') return json(response, 200, { alive: true })
    if (path === '/readyz') {
      const state = readiness()
      const ready = state.listening && state.streamOpen && state.directoryFresh
      return json(response, ready ? 200 : 503, { ready, ...state })
    }
    if (path !== '/metrics') return json(response, 404, { error: 'not found' })
    response.writeHead(200, { 'content-type': registry.contentType })
    response.end(await registry.metrics())
  }
  return createServer((request, response) => {
    respond(request.url ?? '', response).catch((error: unknown) => response.destroy(asError(error)))
  })
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(value)}\n`)
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error))
