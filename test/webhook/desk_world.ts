/**
 * Webhook pools that attend a delivery desk: real stores, pools, clerks and streams in one process.
 * The test holds the clock, answers for the receivers and asks as the processor does.
 */
import { join } from 'node:path'
import { credentials, Server, ServerCredentials } from '@grpc/grpc-js'
import type { Test } from 'tap'
import type { ProtoGrpcType as DeskTypes } from '../../protos/types/delivery_desk.js'
import { instant } from '../../src/base/clock.js'
import type { EndpointId, EventId } from '../../src/base/ids.js'
import { createLog } from '../../src/base/log.js'
import { contracts } from '../../src/base/protos.js'
import { systemRandom } from '../../src/base/random.js'
import { createGuard } from '../../src/processor/services/guard.js'
import {
  deliveryDeskService,
  type DeliveryDeskService,
} from '../../src/processor/services/delivery_desk.js'
import type { ListedEvent } from '../../src/store/lists.js'
import { createClerk } from '../../actors/webhook/clerk.js'
import { createIntake, type Intake } from '../../actors/webhook/intake.js'
import { attendDesk, type AttendedDesk } from '../../actors/webhook/desk.js'
import type { Endpoint } from '../../actors/webhook/endpoint.js'
import { createPool, type WebhookPool } from '../../actors/webhook/pool.js'
import { createRedriver } from '../../actors/webhook/redrive.js'
import type { EventRow } from '../../actors/webhook/rows.js'
import type { Parcel, SendOutcome } from '../../actors/webhook/sender.js'
import { openWebhookStore, type WebhookStore } from '../../actors/webhook/store.js'
import { openViews, type Views } from '../../actors/webhook/views.js'
import { eventually } from '../support/eventually.js'
import { ownFolder } from '../support/own_folder.js'
import { aDelivery, anEventRow, heldClock } from './builders.js'

const TOKEN = 'it_desk'
const random = systemRandom()
const log = createLog('test', { LOG_LEVEL: 'silent' })

/** What a receiver answers; `silence` until the test ends. */
export type Reply = SendOutcome['kind'] | 'silence'

export interface DeskPool {
  readonly store: WebhookStore
  readonly views: Views
  readonly pool: WebhookPool
  readonly intake: Intake
  /** What was sent, in order. */
  readonly sent: Parcel[]
  /** Takes events, as from the bus, and makes their deliveries to these endpoints. */
  give(events: readonly EventRow[], endpoints: readonly Endpoint[]): Promise<void>
  states(): Promise<Record<string, number>>
  leave(): Promise<void>
}

export interface DeskWorld {
  readonly clock: ReturnType<typeof heldClock>
  readonly desk: DeliveryDeskService
  readonly endpoints: Map<EndpointId, Endpoint>
  /** By the endpoint's id, else 2xx. */
  readonly replies: Map<EndpointId, Reply>
  attend(t: Test): Promise<DeskPool>
  /** An endpoint that every pool knows, those that come later too. */
  tell(endpoint: Endpoint): void
  /** Events one second apart. */
  someEvents(count: number): EventRow[]
}

export async function aDeskWorld(t: Test): Promise<DeskWorld> {
  const clock = heldClock()
  const place = ownFolder(t)
  const desk = deliveryDeskService(createGuard(TOKEN))
  const address = await serve(t, desk)
  const endpoints = new Map<EndpointId, Endpoint>()
  const replies = new Map<EndpointId, Reply>()
  const pools: DeskPool[] = []
  let hangUp: () => void = () => undefined
  const hangingUp = new Promise<void>((resolve) => (hangUp = resolve))
  t.teardown(() => hangUp())

  const send = async ({ endpoint }: Parcel): Promise<SendOutcome> => {
    const kind = replies.get(endpoint.id) ?? 'delivered'
    await (kind === 'silence' ? hangingUp : new Promise((resolve) => setImmediate(resolve)))
    const status = { delivered: 204, permanent: 404, gone: 410, retry: 503, silence: 503 }[kind]
    const reply = `told ${status}`
    return {
      kind: kind === 'silence' ? 'retry' : kind,
      ...{ status, reason: `http_${status}`, latencyMs: 7, reply },
    }
  }

  const attend = async (t: Test): Promise<DeskPool> => {
    const file = join(place, `webhooks-${pools.length}.db`)
    const store = await openWebhookStore(file, (fault) => {
      throw fault
    })
    const views = await openViews(file)
    const sent: Parcel[] = []
    const pool = createPool({
      ratePerSecond: null,
      sender: { send: (parcel) => (sent.push(parcel), send(parcel)) },
      store,
      backoff: { attemptsMax: 12, scalePct: 100 },
      ...{ clock, random, log },
      settled: () => undefined,
      disable: () => undefined,
      tried: () => undefined,
    })
    const directory = {
      get: (id: EndpointId) => endpoints.get(id),
      ofTenant: (tenant: string) => [...endpoints.values()].filter((e) => e.tenant === tenant),
      inStep: () => Promise.resolve(true),
    }
    const intake = createIntake({
      consumer: { next: () => Promise.resolve([]), close: () => undefined },
      ...{ endpoints: directory, store, clock, random, log },
      deliver: (deliveries, stored) => pool.deliver(deliveries, stored),
      settled: () => undefined,
    })
    await pool.start()
    for (const endpoint of endpoints.values()) pool.meet(endpoint)
    const redriver = createRedriver({
      ...{ views, store, pool, intake, clock, random },
      endpoints: directory,
    })
    const attending = desk.attending
    const attended = connect(address, createClerk({ views, redriver, pool, clock, log }))
    await eventually('it attends', () => desk.attending === attending + 1)
    t.teardown(async () => {
      hangUp()
      await attended.leave()
      await pool.stop()
      await views.close()
      await store.close()
    })
    const one: DeskPool = {
      ...{ store, views, pool, intake, sent },
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
          for (const { state } of await views.ofEndpoint(id, '~', false, 1_000)) {
            found[state] = (found[state] ?? 0) + 1
          }
        }
        return found
      },
      leave: () => attended.leave(),
    }
    pools.push(one)
    return one
  }

  return {
    ...{ clock, desk, endpoints, replies, attend },
    tell: (endpoint) => {
      endpoints.set(endpoint.id, endpoint)
      for (const { pool } of pools) pool.meet(endpoint)
    },
    someEvents: (count) =>
      Array.from({ length: count }, () => {
        clock.advance(1_000)
        return anEventRow({ receivedAt: clock.now() })
      }),
  }
}

async function serve(t: Test, desk: DeliveryDeskService): Promise<string> {
  const server = new Server()
  server.addService(contracts<DeskTypes>().causeway.v1.DeliveryDesk.service, desk.handlers)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (fault, bound) =>
      fault === null ? resolve(bound) : reject(fault),
    )
  })
  t.teardown(() => server.forceShutdown())
  return `127.0.0.1:${port}`
}

function connect(address: string, clerk: ReturnType<typeof createClerk>): AttendedDesk {
  const { DeliveryDesk } = contracts<DeskTypes>().causeway.v1
  // A connection of its own, as that of another process.
  const client = new DeliveryDesk(address, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  })
  const attended = attendDesk({
    client,
    token: TOKEN,
    clerk,
    pool: 1,
    lastReceived: () => Promise.resolve(null),
    log,
  })
  return {
    leave: async () => {
      await attended.leave()
      client.close()
    },
  }
}

/** The event as the processor's outbox shows it. */
export const outboxOf = (event: EventRow, settledAt: number | null = null): ListedEvent => ({
  id: event.id,
  type: event.type,
  sequence: event.sequence,
  createdAt: event.createdAt,
  settledAt: settledAt === null ? null : instant(settledAt),
  body: event.body,
})

export const idsOf = (rows: readonly { readonly event_id: string }[]): EventId[] =>
  rows.map(({ event_id }) => event_id as EventId)
