/**
 * Deliveries made again: after they have failed, or because somebody asks for it.
 *
 * Owns: which deliveries are taken up, and that nothing else changes them meanwhile. Does not own:
 * when they are tried (webhook/pool), who may ask (the processor).
 *
 * - What is not tried yet, or is under way, is left alone: asked for twice, it is sent once.
 * - A deleted endpoint gets nothing any more.
 * - One at a time, and in turn with the intake: an event is not brought in twice, and none is
 *   forgotten between a look and a commit.
 * - Pages are short, so that the pool's own commits go between them.
 */
import type { Clock, Instant } from '../../../src/base/clock.js'
import { leastIdAt, type EndpointId } from '../../../src/base/ids.js'
import type { Random } from '../../../src/base/random.js'
import { address, type EventConsumer } from '../intake/event_consumer.js'
import { openDelivery } from './actor.js'
import { wants, type Endpoint } from '../endpoint/endpoint.js'
import type { Endpoints } from '../endpoint/endpoint_directory.js'
import type { WebhookPool } from '../pool.js'
import type { EventRow } from '../store/schema.js'
import type { Delivery, WebhookStore } from '../store/store.js'
import type { DeliveryView, AdminQueries } from '../store/admin_queries.js'

const PAGE_MAX = 500

export interface RedriverOptions {
  readonly adminQueries: AdminQueries
  readonly store: Pick<WebhookStore, 'commit'>
  readonly pool: Pick<WebhookPool, 'withPausedQueue' | 'deliver'>
  readonly eventConsumer: Pick<EventConsumer, 'inOrder'>
  readonly endpoints: Pick<Endpoints, 'get' | 'ofTenant' | 'inStep'>
  readonly clock: Clock
  readonly random: Random
}

export interface Resend {
  readonly event: EventRow
  /** Every pool has done with it. */
  readonly settled: boolean
  /** Undefined: each that got it or wants it. */
  readonly endpointId: EndpointId | undefined
  /** Also when the event is not here. */
  readonly take: boolean
}

export interface Redriver {
  /** Whatever became of it. Undefined: no delivery of ours. */
  one(id: string): Promise<{ readonly redriven: number } | undefined>
  /** What has failed, of events since then, the oldest first. */
  failed(
    endpointId: EndpointId | undefined,
    since: Instant,
    limit: number,
  ): Promise<{ readonly redriven: number; readonly more: boolean }>
  /** Undefined: the event is not here, and was not to be taken. */
  resend(ask: Resend): Promise<readonly DeliveryView[] | undefined>
}

export function createRedriver(options: RedriverOptions): Redriver {
  const { adminQueries, store, pool, eventConsumer, endpoints, clock, random } = options

  const one: Redriver['one'] = (id) =>
    eventConsumer.inOrder(async () => {
      const found = await adminQueries.delivery(id)
      if (found === undefined) return undefined
      return { redriven: await again(found.endpointId, () => oneOf(adminQueries.delivery(id))) }
    })

  const failed: Redriver['failed'] = async (endpointId, since, limit) => {
    const ids = endpointId === undefined ? await adminQueries.failedEndpoints() : [endpointId]
    const from = leastIdAt('event', since)
    let redriven = 0
    for (const id of ids) {
      let page: FailedPage | undefined = { above: from, size: PAGE_MAX }
      while (page !== undefined) {
        if (redriven >= limit) return { redriven, more: true }
        const request: FailedPage = { ...page, size: Math.min(PAGE_MAX, limit - redriven) }
        const done = await eventConsumer.inOrder(() => failedPage(id, request))
        redriven += done.redriven
        page = done.next
      }
    }
    return { redriven, more: false }
  }

  const failedPage = async (
    endpointId: EndpointId,
    { above, size }: FailedPage,
  ): Promise<{ readonly redriven: number; readonly next: FailedPage | undefined }> => {
    let last: DeliveryView | undefined
    const redriven = await again(endpointId, async () => {
      const rows = await adminQueries.failed(endpointId, above, size)
      if (rows.length === size) last = rows.at(-1)
      return rows
    })
    return { redriven, next: last && { above: last.eventId, size } }
  }

  /** Takes up those of the rows that rest. @returns how many it was */
  const again = async (
    endpointId: EndpointId,
    read: () => Promise<readonly DeliveryView[]>,
  ): Promise<number> => {
    if (!isThere(endpoints.get(endpointId))) return 0
    let count = 0
    await pool.withPausedQueue(endpointId, async (rests) => {
      const now = clock.now()
      const revived = (await read()).filter(rests).flatMap((row) => redriven(row, now))
      count = revived.length
      if (count > 0) await store.commit({ deliveries: revived })
      return count > 0 ? now : null
    })
    return count
  }

  const resend: Redriver['resend'] = async (ask) => {
    if (!(await endpoints.inStep())) return undefined
    return eventConsumer.inOrder(async () => {
      const { event, endpointId } = ask
      const isKnown = await adminQueries.hasEvent(event.id)
      if (!isKnown && !ask.take) return undefined
      const isRequested = (row: DeliveryView): boolean =>
        endpointId === undefined || row.endpointId === endpointId
      const before = await adminQueries.ofEvent(event.id)
      for (const row of before.filter(isRequested)) {
        await again(row.endpointId, () => oneOf(adminQueries.delivery(row.id)))
      }
      const got = new Set(before.map((row) => row.endpointId))
      const fresh = targets(ask, isKnown)
        .filter(({ id }) => !got.has(id))
        .map((endpoint) => address(event, endpoint, clock.now(), random))
      if (fresh.length > 0) await bring(isKnown ? [] : [event], fresh)
      return (await adminQueries.ofEvent(event.id)).filter(isRequested)
    })
  }

  /**
   * Named, an endpoint gets what it would not have got by itself. An event that is taken before its
   * message came goes to all that want it: the message will make no deliveries any more.
   */
  const targets = (ask: Resend, isKnown: boolean): readonly Endpoint[] => {
    const { event, endpointId } = ask
    const named = endpointId === undefined ? undefined : endpoints.get(endpointId)
    const isFirst = !isKnown && !ask.settled
    return [...endpoints.ofTenant(event.tenant)].filter(
      (endpoint) =>
        isThere(endpoint) &&
        (endpoint === named || ((endpointId === undefined || isFirst) && wants(endpoint, event))),
    )
  }

  const bring = async (events: readonly EventRow[], deliveries: readonly Delivery[]) => {
    await store.commit({ events, deliveries })
    pool.deliver(deliveries)
  }

  return { one, failed, resend }
}

interface FailedPage {
  /** The event that it begins behind. */
  readonly above: string
  readonly size: number
}

const isThere = (endpoint: Endpoint | undefined): endpoint is Endpoint =>
  endpoint !== undefined && endpoint.status !== 'deleted'

const oneOf = async <T>(found: Promise<T | undefined>): Promise<readonly T[]> => {
  const row = await found
  return row === undefined ? [] : [row]
}

function redriven(row: DeliveryView, at: Instant): readonly DeliveryView[] {
  const actor = openDelivery(row.state, row.context)
  const event = { type: 'redrive', at } as const
  if (!actor.getSnapshot().can(event)) return []
  actor.send(event)
  const { value: state, context } = actor.getSnapshot()
  return [{ ...row, state, context }]
}
