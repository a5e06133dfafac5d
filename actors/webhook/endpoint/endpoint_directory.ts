/**
 * The directory of webhook endpoints, streamed from every processor.
 *
 * Owns: the streams, their reconnect, the last known state of each endpoint, and which processor
 * serves a tenant. Does not own: the processors' addresses (grpc/processor_addresses),
 * subscriptions of endpoints (endpoint/endpoint).
 *
 * - A tenant is synced while the stream of the processor that serves it is open and complete. Only
 *   then is it certain that an event of the tenant has no endpoint.
 * - Of two processors that announce a partner the one with the open stream serves it, of two open
 *   ones that with the higher epoch: restored books begin again at a lower one. A processor without
 *   a shard is the only one and serves every tenant.
 * - The last known endpoints stay usable while a stream is down: deliveries continue.
 * - A deleted endpoint is passed to the handler and not stored.
 * - An endpoint that cannot be applied is logged, and the others are.
 */
import type { ClientReadableStream } from '@grpc/grpc-js'
import type { DirectoryClient } from '../../../protos/types/causeway/internal/v1/Directory.js'
import type { Endpoint__Output as WireEndpoint } from '../../../protos/types/causeway/internal/v1/Endpoint.js'
import type { EndpointUpdate__Output as EndpointUpdate } from '../../../protos/types/causeway/internal/v1/EndpointUpdate.js'
import { signingKey } from '../../../src/auth/signature.js'
import { instant } from '../../../src/base/clock.js'
import { partsOfTenant, type EndpointId, type TenantId } from '../../../src/base/ids.js'
import { bearer } from '../../../src/grpc/bearer.js'
import type { Logger } from '../../../src/base/log.js'
import { createRetry, RECONNECT } from '../../../src/base/retry.js'
import type { Endpoint } from './endpoint.js'

export interface Endpoints {
  /** Neither this nor `ofTenant` returns deleted endpoints. */
  get(id: EndpointId): Endpoint | undefined
  ofTenant(tenant: TenantId): Iterable<Endpoint>
  isSynced(tenant: TenantId): boolean
  /**
   * Resolves with true once the tenant is synced, with false when closed before, or not within so
   * many milliseconds.
   */
  whenSynced(tenant: TenantId, withinMs?: number): Promise<boolean>
  /** At least one stream is complete. */
  isAnySynced(): boolean
  whenAnySynced(): Promise<boolean>
  /** The streams of every shard are complete. */
  isAllSynced(): boolean
  /** Called for each received endpoint, known ones included. */
  onChange(handler: (endpoint: Endpoint) => void): void
  /** Called when a stream is complete, also after each reconnect. */
  onComplete(handler: () => void): void
  close(): void
}

export interface EndpointDirectory extends Endpoints {
  /** Subscribes to a processor. `client` is asked for each stream (grpc/renewed_client). */
  add(client: () => DirectoryClient): Subscription
  /** The complete one of the processor that serves the tenant. */
  subscriptionOf(tenant: TenantId): Subscription | undefined
  /** Deliveries of the tenant must not start: its processor is in recovery mode, or was last. */
  isPaused(tenant: TenantId): boolean
  /**
   * The id of the installation that the processors serve, alone. Undefined until one has announced
   * itself; empty while all of them are of earlier versions.
   */
  installations(): readonly string[] | undefined
}

export interface Subscription {
  /** Whether this processor announces the tenant. */
  has(tenant: TenantId): boolean
  /** Its endpoints are current. */
  isComplete(): boolean
  /** Resolves when the stream is complete for the first time. */
  readonly complete: Promise<void>
  close(): void
}

/** What a processor announces. */
interface Announcement {
  shard: string
  epoch: number
  shards: readonly string[]
  partners: Set<string>
}

interface DirectoryStream extends Subscription {
  readonly state: Announcement & { isComplete: boolean; isPaused: boolean }
}

interface Waiter {
  isReached(): boolean
  resolve(isSynced: boolean): void
}

export interface EndpointDirectoryOptions {
  readonly token: string
  readonly log: Logger
}

export function createEndpointDirectory(options: EndpointDirectoryOptions): EndpointDirectory {
  const known = new Map<EndpointId, Endpoint>()
  const byTenant = new Map<TenantId, Map<EndpointId, Endpoint>>()
  const streams = new Set<DirectoryStream>()
  let waiting: Waiter[] = []
  let closed = false
  let handler: (endpoint: Endpoint) => void = () => undefined
  let whenComplete: () => void = () => undefined
  let installation: string | undefined

  const add = (client: () => DirectoryClient): Subscription => {
    const stream = openStream(client, options, {
      announced: (update) => (installation = update.installation || (installation ?? '')),
      update: take,
      closed: () => streams.delete(stream),
    })
    streams.add(stream)
    return stream
  }

  const take = (update: EndpointUpdate): void => {
    for (const wire of update.endpoints) {
      try {
        apply(readEndpoint(wire))
      } catch (error) {
        options.log.error({ error, endpoint_id: wire.id }, 'endpoint cannot be applied')
      }
    }
    if (update.complete) options.log.info({ endpoints: known.size }, 'endpoint directory complete')
    const reached = waiting.filter((waiter) => waiter.isReached())
    waiting = waiting.filter((waiter) => !reached.includes(waiter))
    for (const { resolve } of reached) resolve(true)
    if (update.complete) whenComplete()
  }

  const apply = (endpoint: Endpoint): void => {
    if (endpoint.status === 'deleted') remove(endpoint)
    else store(endpoint)
    handler(endpoint)
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

  const complete = (): DirectoryStream[] => [...streams].filter(({ state }) => state.isComplete)

  const subscriptionOf = (tenant: TenantId): Subscription | undefined =>
    newestOf(tenant, complete())

  /** By the last known owner, whose stream may be down. */
  const isPaused = (tenant: TenantId): boolean => {
    for (const { state } of streams) {
      if (state.isPaused) return newestOf(tenant, [...streams])?.state.isPaused === true
    }
    return false
  }

  const isAllSynced = (): boolean => {
    const open = complete()
    const served = new Set(open.map(({ state }) => state.shard))
    return open.length > 0 && open.every(({ state }) => state.shards.every((s) => served.has(s)))
  }

  const until = (isReached: () => boolean, withinMs?: number): Promise<boolean> =>
    isReached() || closed
      ? Promise.resolve(!closed)
      : new Promise((resolve) => {
          const waiter = { isReached, resolve }
          waiting.push(waiter)
          if (withinMs !== undefined) setTimeout(() => giveUp(waiter), withinMs).unref()
        })

  /** Else those of a processor that stays away would become more without an end. */
  const giveUp = (waiter: Waiter): void => {
    waiting = waiting.filter((other) => other !== waiter)
    waiter.resolve(false)
  }

  const isSynced = (tenant: TenantId): boolean => subscriptionOf(tenant) !== undefined
  const isAnySynced = (): boolean => complete().length > 0

  return {
    add,
    subscriptionOf,
    isPaused,
    installations: () => (installation === undefined ? undefined : [installation].filter(Boolean)),
    get: (id) => known.get(id),
    ofTenant: (tenant) => byTenant.get(tenant)?.values() ?? [],
    isSynced,
    whenSynced: (tenant, withinMs) => until(() => isSynced(tenant), withinMs),
    isAnySynced,
    whenAnySynced: () => until(isAnySynced),
    isAllSynced,
    onChange: (given) => {
      handler = given
    },
    onComplete: (given) => {
      whenComplete = given
    },
    close: () => {
      closed = true
      for (const stream of [...streams]) stream.close()
      for (const { resolve } of waiting.splice(0)) resolve(false)
    },
  }
}

const newestOf = (
  tenant: TenantId,
  streams: readonly DirectoryStream[],
): DirectoryStream | undefined =>
  streams
    .filter((stream) => stream.has(tenant))
    .sort((one, other) => rankOf(other) - rankOf(one) || other.state.epoch - one.state.epoch)[0]

const rankOf = ({ state }: DirectoryStream): number => Number(state.isComplete)

function openStream(
  client: () => DirectoryClient,
  { token, log }: EndpointDirectoryOptions,
  on: {
    announced(update: EndpointUpdate): void
    update(update: EndpointUpdate): void
    closed(): void
  },
): DirectoryStream {
  const state: DirectoryStream['state'] = {
    ...{ shard: '', epoch: 0, shards: [], partners: new Set<string>() },
    ...{ isComplete: false, isPaused: false },
  }
  const retry = createRetry(RECONNECT)
  let stream: ClientReadableStream<EndpointUpdate> | undefined
  /** What a new stream announces. The earlier one holds until its first endpoints arrive. */
  let announced: Announcement | undefined
  let closed = false
  let whenComplete: () => void = () => undefined
  const complete = new Promise<void>((resolve) => (whenComplete = resolve))

  const open = (): void => {
    const opened = client().WatchEndpoints({}, bearer(token))
    let isFirst = true
    stream = opened
    opened.on('data', (update: EndpointUpdate) => {
      if (closed) return
      retry.reset()
      if (isFirst) {
        announced = announcementIn(update)
        on.announced(update)
      }
      isFirst = false
      const { partners } = announced ?? state
      for (const partner of update.partners) partners.add(partner)
      for (const partner of update.gone) partners.delete(partner)
      // The messages that name shard and partners come before the endpoints.
      if (update.endpoints.length > 0 || update.complete) {
        Object.assign(state, announced)
        announced = undefined
        pause(update.paused)
      }
      if (update.complete) {
        state.isComplete = true
        whenComplete()
      }
      on.update(update)
    })
    opened.on('error', (fault) => lose(opened, fault.message))
    opened.on('end', () => lose(opened, 'ended by the processor'))
  }

  const pause = (paused: boolean): void => {
    if (paused === state.isPaused) return
    state.isPaused = paused
    const { shard } = state
    log.info(shard === '' ? {} : { shard }, paused ? 'deliveries paused' : 'deliveries resumed')
  }

  /** A stream reports its end more than once. */
  const lose = (lost: ClientReadableStream<EndpointUpdate>, reason: string): void => {
    if (stream !== lost || closed) return
    stream = undefined
    state.isComplete = false
    log.debug({ reason }, 'endpoint stream lost')
    retry.schedule(open)
  }

  open()
  return {
    state,
    complete,
    isComplete: () => state.isComplete,
    has: (tenant) => state.shard === '' || state.partners.has(partsOfTenant(tenant).partner),
    close: () => {
      closed = true
      state.isComplete = false
      on.closed()
      retry.cancel()
      stream?.cancel()
    },
  }
}

const announcementIn = ({ shard, epoch, shards }: EndpointUpdate): Announcement => ({
  ...{ shard, epoch: Number(epoch), shards },
  partners: new Set<string>(),
})

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
