/**
 * The directory of webhook endpoints, streamed from the processor.
 *
 * Owns: the stream, its reconnect and the last known state of each endpoint. Does not own:
 * subscriptions (endpoint/endpoint).
 *
 * - In step: the stream is open and complete. Only then is it certain that an event has no
 *   endpoint.
 * - The last known endpoints stay usable while the stream is down: deliveries continue.
 * - A deleted endpoint is passed to the handler and not stored.
 */
import type { ClientReadableStream } from '@grpc/grpc-js'
import type { DirectoryClient } from '../../../protos/types/causeway/internal/v1/Directory.js'
import type { Endpoint__Output as WireEndpoint } from '../../../protos/types/causeway/internal/v1/Endpoint.js'
import type { EndpointUpdate__Output as EndpointUpdate } from '../../../protos/types/causeway/internal/v1/EndpointUpdate.js'
import { signingKey } from '../../../src/auth/signature.js'
import { instant } from '../../../src/base/clock.js'
import type { EndpointId, TenantId } from '../../../src/base/ids.js'
import { bearer } from '../../../src/base/bearer.js'
import type { Logger } from '../../../src/base/log.js'
import { createRetry, RECONNECT } from '../../../src/base/retry.js'
import type { Endpoint } from './endpoint.js'

export interface Endpoints {
  /** Neither this nor `ofTenant` returns deleted endpoints. */
  get(id: EndpointId): Endpoint | undefined
  ofTenant(tenant: TenantId): Iterable<Endpoint>
  /** Resolves with true once in step, with false when closed before. */
  inStep(): Promise<boolean>
  isInStep(): boolean
  /** Called for each received endpoint, known ones included. */
  onChange(handler: (endpoint: Endpoint) => void): void
  /** Called before the endpoints of each message. */
  onPaused(handler: (paused: boolean) => void): void
  close(): void
}

export interface EndpointsOptions {
  readonly client: DirectoryClient
  readonly token: string
  readonly log: Logger
}

export function watchEndpoints({ client, token, log }: EndpointsOptions): Endpoints {
  const known = new Map<EndpointId, Endpoint>()
  const byTenant = new Map<TenantId, Map<EndpointId, Endpoint>>()
  let stream: ClientReadableStream<EndpointUpdate> | undefined
  let complete = false
  let closed = false
  const retry = createRetry(RECONNECT)
  const waiting: ((inStep: boolean) => void)[] = []
  let handler: (endpoint: Endpoint) => void = () => undefined
  let pausedHandler: (paused: boolean) => void = () => undefined

  const open = (): void => {
    const opened = client.WatchEndpoints({}, bearer(token))
    stream = opened
    opened.on('data', (update: EndpointUpdate) => take(update))
    opened.on('error', (fault) => lose(opened, fault.message))
    opened.on('end', () => lose(opened, 'ended by the processor'))
  }

  const take = (update: EndpointUpdate): void => {
    retry.reset()
    pausedHandler(update.paused)
    for (const wire of update.endpoints) {
      const endpoint = readEndpoint(wire)
      if (endpoint.status === 'deleted') remove(endpoint)
      else store(endpoint)
      handler(endpoint)
    }
    if (!update.complete) return
    complete = true
    log.info({ endpoints: known.size }, 'endpoint directory complete')
    for (const resolve of waiting.splice(0)) resolve(true)
  }

  const store = (endpoint: Endpoint): void => {
    const { id, tenant } = endpoint
    const endpoints = byTenant.get(tenant) ?? new Map<EndpointId, Endpoint>()
    known.set(id, endpoint)
    byTenant.set(tenant, endpoints.set(id, endpoint))
  }

  const remove = ({ id, tenant }: Endpoint): void => {
    known.delete(id)
    byTenant.get(tenant)?.delete(id)
  }

  /** A stream reports its end more than once. */
  const lose = (lost: ClientReadableStream<EndpointUpdate>, reason: string): void => {
    if (stream !== lost || closed) return
    stream = undefined
    complete = false
    log.debug({ reason }, 'endpoint stream lost')
    retry.schedule(open)
  }

  open()
  return {
    get: (id) => known.get(id),
    ofTenant: (tenant) => byTenant.get(tenant)?.values() ?? [],
    inStep: () =>
      complete || closed
        ? Promise.resolve(complete)
        : new Promise((resolve) => waiting.push(resolve)),
    isInStep: () => complete,
    onChange: (given) => {
      handler = given
    },
    onPaused: (given) => {
      pausedHandler = given
    },
    close: () => {
      closed = true
      retry.cancel()
      stream?.cancel()
      complete = false
      for (const resolve of waiting.splice(0)) resolve(false)
    },
  }
}

function readEndpoint(wire: WireEndpoint): Endpoint {
  const createdAt = instant(Number(wire.created_at))
  return {
    id: wire.id as EndpointId,
    tenant: wire.tenant as TenantId,
    url: wire.url,
    enabledEvents: wire.enabled_events,
    // An unknown status of a newer processor counts as disabled: events are held, not lost.
    status: wire.status === 'enabled' || wire.status === 'deleted' ? wire.status : 'disabled',
    secrets: wire.secrets.map((secret) => ({
      keyId: secret.key_id,
      key: signingKey(secret.secret),
      activeFrom: instant(Number(secret.active_from)),
    })),
    createdAt,
    enabledEventsSince: instant(Math.max(Number(wire.enabled_events_since), createdAt)),
    breakerResetAt: instant(Number(wire.breaker_reset_at)),
  }
}
