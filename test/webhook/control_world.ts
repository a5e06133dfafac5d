/**
 * Webhook pools on a control stream: real stores, schedulers, handlers and streams in one process.
 * The test controls the clock, answers for the receivers and sends the processor's requests.
 */
import { join } from 'node:path'
import { credentials, Server } from '@grpc/grpc-js'
import type { Test } from 'tap'
import type { ProtoGrpcType as ControlTypes } from '../../protos/types/webhook_control.js'
import { instant } from '../../src/base/clock.js'
import type { EndpointId, EventId } from '../../src/base/ids.js'
import { contracts } from '../../src/grpc/contracts.js'
import { systemRandom } from '../../src/base/random.js'
import {
  webhookControlService,
  type WebhookControlService,
} from '../../src/processor/servers/webhook_control.js'
import type { ListedEvent } from '../../src/store/lists.js'
import { createControlHandler } from '../../actors/webhook/control/control_handler.js'
import {
  createEventConsumer,
  type EventConsumer,
} from '../../actors/webhook/intake/event_consumer.js'
import {
  openControlStream,
  type ControlStream,
} from '../../actors/webhook/control/control_stream.js'
import type { Endpoint } from '../../actors/webhook/endpoint/endpoint.js'
import { createPool, type WebhookPool } from '../../actors/webhook/pool.js'
import { createRedriver } from '../../actors/webhook/control/redrive.js'
import type { EventRow } from '../../actors/webhook/store/schema.js'
import type { WebhookRequest } from '../../actors/webhook/sending/sender.js'
import type { SendOutcome } from '../../actors/webhook/delivery/send_outcome.js'
import { openWebhookStore, type WebhookStore } from '../../actors/webhook/store/store.js'
import { openAdminQueries, type AdminQueries } from '../../actors/webhook/store/admin_queries.js'
import { listenGrpc } from '../support/grpc_listen.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { tempFolder } from '../support/temp_folder.js'
import { aDelivery, anEventRow, heldClock, NO_CLAIMS } from './builders.js'
import { failed, NO_REPORTS } from '../support/webhook_store.js'

const TOKEN = 'it_test'
const random = systemRandom()

/** The receiver's answer; `silence` until the test ends. */
export type Reply = SendOutcome['kind'] | 'silence'

export interface ControlPool {
  readonly store: WebhookStore
  readonly adminQueries: AdminQueries
  readonly pool: WebhookPool
  readonly eventConsumer: EventConsumer
  /** Sent requests, in order. */
  readonly sent: WebhookRequest[]
  /** Stores events, as from the bus, with deliveries to these endpoints. */
  give(events: readonly EventRow[], endpoints: readonly Endpoint[]): Promise<void>
  states(): Promise<Record<string, number>>
  leave(): Promise<void>
}

export interface ControlWorld {
  readonly clock: ReturnType<typeof heldClock>
  readonly ctx: WebhookControlService
  readonly endpoints: Map<EndpointId, Endpoint>
  /** By endpoint id; 2xx without an entry. */
  readonly replies: Map<EndpointId, Reply>
  /** @param number of the pool */
  attend(t: Test, number?: number): Promise<ControlPool>
  /** Registers an endpoint with present and later pools. */
  setEndpoint(endpoint: Endpoint): void
  /** Events one second apart. */
  someEvents(count: number): EventRow[]
}

export async function aControlWorld(t: Test): Promise<ControlWorld> {
  const clock = heldClock()
  const folder = tempFolder(t)
  const ctx = webhookControlService()
  const address = await serve(t, ctx)
  const endpoints = new Map<EndpointId, Endpoint>()
  const replies = new Map<EndpointId, Reply>()
  const pools: ControlPool[] = []
  let hangUp: () => void = () => undefined
  const hangingUp = new Promise<void>((resolve) => (hangUp = resolve))
  t.teardown(() => hangUp())

  const send = async ({ endpoint }: WebhookRequest): Promise<SendOutcome> => {
    const kind = replies.get(endpoint.id) ?? 'delivered'
    await (kind === 'silence' ? hangingUp : new Promise((resolve) => setImmediate(resolve)))
    const status = { delivered: 204, permanent: 404, gone: 410, retry: 503, silence: 503 }[kind]
    const reply = `answered ${status}`
    return {
      kind: kind === 'silence' ? 'retry' : kind,
      ...{ status, reason: `http_${status}`, latencyMs: 7, reply },
    }
  }

  const attend = async (t: Test, number = 1): Promise<ControlPool> => {
    const file = join(folder, `webhooks-${pools.length}.db`)
    const store = await openWebhookStore(file, NO_REPORTS)
    const adminQueries = await openAdminQueries(file)
    const sent: WebhookRequest[] = []
    const pool = createPool({
      ratePerSecond: null,
      sender: { send: (webhookRequest) => (sent.push(webhookRequest), send(webhookRequest)) },
      store,
      backoff: { attemptsMax: 12, scalePct: 100 },
      ...{ clock, random, log },
      settled: () => undefined,
      disable: () => undefined,
      onAttempt: () => undefined,
      failed,
    })
    const directory = {
      get: (id: EndpointId) => endpoints.get(id),
      ofTenant: (tenant: string) => [...endpoints.values()].filter((e) => e.tenant === tenant),
      isSynced: () => true,
      whenSynced: () => Promise.resolve(true),
      isAnySynced: () => true,
      whenAnySynced: () => Promise.resolve(true),
      isAllSynced: () => true,
    }
    const eventConsumer = createEventConsumer({
      consumer: { next: () => Promise.resolve([]), close: () => undefined },
      ...{ endpoints: directory, store, claims: NO_CLAIMS, clock, random, log },
      deliver: (deliveries, stored) => pool.deliver(deliveries, stored),
      settled: () => undefined,
      failed,
    })
    await pool.start()
    for (const endpoint of endpoints.values()) pool.applyEndpoint(endpoint)
    const redriver = createRedriver({
      ...{ adminQueries, store, pool, eventConsumer, clock, random },
      endpoints: directory,
    })
    const connectedPools = ctx.connectedPools
    const opened = connect(
      address,
      createControlHandler({
        ...{ adminQueries, redriver, pool, store, clock, log },
        claims: { answer: async () => [] },
      }),
      number,
    )
    await eventually('the pool is connected', () => ctx.connectedPools === connectedPools + 1)
    t.teardown(async () => {
      hangUp()
      await opened.close()
      await pool.stop()
      await adminQueries.close()
      await store.close()
    })
    const one: ControlPool = {
      ...{ store, adminQueries, pool, eventConsumer, sent },
      give: async (events, to) => {
        const deliveries = events.flatMap((event) =>
          to.map((endpoint) => aDelivery(event, endpoint, clock.now())),
        )
        await store.commit({ events, deliveries })
        pool.deliver(deliveries)
      },
      states: async () => {
        const found: Record<string, number> = {}
        for (const id of endpoints.keys()) {
          for (const { state } of await adminQueries.ofEndpoint(id, '~', false, 1_000)) {
            found[state] = (found[state] ?? 0) + 1
          }
        }
        return found
      },
      leave: () => opened.close(),
    }
    pools.push(one)
    return one
  }

  return {
    ...{ clock, ctx, endpoints, replies, attend },
    setEndpoint: (endpoint) => {
      endpoints.set(endpoint.id, endpoint)
      for (const { pool } of pools) pool.applyEndpoint(endpoint)
    },
    someEvents: (count) =>
      Array.from({ length: count }, () => {
        clock.advance(1_000)
        return anEventRow({ receivedAt: clock.now() })
      }),
  }
}

async function serve(t: Test, ctx: WebhookControlService): Promise<string> {
  const server = new Server()
  server.addService(
    contracts<ControlTypes>().causeway.internal.v1.WebhookControl.service,
    ctx.handlers,
  )
  const address = await listenGrpc(server)
  t.teardown(() => server.forceShutdown())
  return address
}

function connect(
  address: string,
  handleControl: ReturnType<typeof createControlHandler>,
  number: number,
): ControlStream {
  const { WebhookControl } = contracts<ControlTypes>().causeway.internal.v1
  // A separate connection, as of another process.
  const client = new WebhookControl(address, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  })
  const opened = openControlStream({
    client: () => client,
    token: TOKEN,
    handle: handleControl,
    pool: number,
    lastReceived: () => Promise.resolve(null),
    log,
  })
  return {
    close: async () => {
      await opened.close()
      client.close()
    },
  }
}

/** The event as listed from the processor's outbox. */
export const outboxOf = (event: EventRow, settledAt: number | null = null): ListedEvent => ({
  id: event.id,
  type: event.type,
  sequence: event.sequence,
  createdAt: event.createdAt,
  settledAt: settledAt === null ? null : instant(settledAt),
  body: event.body,
  requestId: event.requestId,
  traceparent: event.traceparent,
})

export const idsOf = (rows: readonly { readonly event_id: string }[]): EventId[] =>
  rows.map(({ event_id }) => event_id as EventId)
