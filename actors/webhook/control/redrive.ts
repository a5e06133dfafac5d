/**
 * Redrives deliveries and resends events, on request.
 *
 * Owns: selecting the deliveries and changing them exclusively. Does not own: when they are
 * attempted (webhook/pool), authorization (the processor).
 *
 * - Deliveries that are pending or in flight are skipped, so a repeated request sends once.
 * - A deleted endpoint gets nothing.
 * - A corrupt delivery is reset under its id and its tries continue; one whose event is missing
 *   by a resend, which brings the event.
 * - Runs serialized with the intake and with retention: no event is stored twice or removed between
 *   a read and its commit.
 * - Pages are short, so the pool's own commits run between them.
 */
import type { Clock, Instant } from '../../../src/base/clock.js'
import { leastIdAt, type EndpointId } from '../../../src/base/ids.js'
import type { Random } from '../../../src/base/random.js'
import { deliveryTo, type EventConsumer } from '../intake/event_consumer.js'
import { deliveryTransitions } from '../delivery/machine.js'
import { subscribesTo, type Endpoint } from '../endpoint/endpoint.js'
import type { Endpoints } from '../endpoint/endpoint_directory.js'
import type { PoolPort } from './pool_port.js'
import type { EventRow } from '../store/schema.js'
import type { Delivery, WebhookStore } from '../store/store.js'
import type { DeliveryView, AdminQueries, OrphanDelivery } from '../store/admin_queries.js'

const PAGE_MAX = 500

export interface RedriverOptions {
  readonly adminQueries: AdminQueries
  readonly store: Pick<WebhookStore, 'commit'>
  readonly pool: Pick<PoolPort, 'withPausedQueue' | 'deliver'>
  readonly eventConsumer: Pick<EventConsumer, 'inOrder'>
  readonly endpoints: Pick<Endpoints, 'get' | 'ofTenant' | 'whenSynced'>
  readonly clock: Clock
  readonly random: Random
}

export interface Resend {
  readonly event: EventRow
  /** Every pool has settled the event. */
  readonly settled: boolean
  /** Undefined means every endpoint that got the event or subscribes to it. */
  readonly endpointId: EndpointId | undefined
  /** Whether a pool that does not have the event stores it. */
  readonly take: boolean
}

export interface Redriver {
  /** One delivery in any state. Undefined means that this pool has no such delivery. */
  one(id: string): Promise<{ readonly redriven: number } | undefined>
  /** Failed deliveries of events created since then, oldest first. */
  failed(
    endpointId: EndpointId | undefined,
    since: Instant,
    limit: number,
  ): Promise<{ readonly redriven: number; readonly more: boolean }>
  /** Undefined means that the pool does not have the event and must not store it. */
  resend(request: Resend): Promise<readonly DeliveryView[] | undefined>
}

export function createRedriver(options: RedriverOptions): Redriver {
  const { adminQueries, store, pool, eventConsumer, endpoints, clock, random } = options

  const one: Redriver['one'] = (id) =>
    eventConsumer.inOrder(async () => {
      const found = await adminQueries.delivery(id)
      if (found === undefined) return undefined
      return { redriven: await redrive(found.endpointId, () => rowOf(adminQueries.delivery(id))) }
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
    const redriven = await redrive(endpointId, async () => {
      const rows = await adminQueries.failed(endpointId, above, size)
      if (rows.length === size) last = rows.at(-1)
      return rows
    })
    return { redriven, next: last && { above: last.eventId, size } }
  }

  /** Redrives those of the rows that are not in memory. @returns their number */
  const redrive = async (
    endpointId: EndpointId,
    read: () => Promise<readonly DeliveryView[]>,
  ): Promise<number> => {
    if (!exists(endpoints.get(endpointId))) return 0
    let count = 0
    await pool.withPausedQueue(endpointId, async (isOnDiskOnly) => {
      const now = clock.now()
      const deliveries = (await read()).filter(isOnDiskOnly).flatMap((row) => redriven(row, now))
      count = deliveries.length
      if (count > 0) await store.commit({ deliveries })
      return count > 0 ? now : null
    })
    return count
  }

  const resend: Redriver['resend'] = async (request) => {
    if (!(await endpoints.whenSynced(request.event.tenant))) return undefined
    return eventConsumer.inOrder(async () => {
      const { event, endpointId } = request
      const isKnown = await adminQueries.hasEvent(event.id)
      if (!isKnown && !request.take) return undefined
      const isRequested = (row: DeliveryView): boolean =>
        endpointId === undefined || row.endpointId === endpointId
      const before = await adminQueries.ofEvent(event.id)
      for (const row of before.filter(isRequested)) {
        await redrive(row.endpointId, () => rowOf(adminQueries.delivery(row.id)))
      }
      const got = new Set(before.map((row) => row.endpointId))
      const orphans = await adminQueries.orphansOf(event.id)
      const fresh = targets(request, isKnown)
        .filter(({ id }) => !got.has(id))
        .map((endpoint) => deliveryTo(endpoint, event, clock.now(), random))
        .map((delivery) => underItsId(delivery, orphans.get(delivery.endpointId)))
      if (fresh.length > 0) await addDeliveries(isKnown ? [] : [event], fresh)
      return (await adminQueries.ofEvent(event.id)).filter(isRequested)
    })
  }

  /**
   * A named endpoint gets the event even without a subscription. An event stored before its message
   * arrives goes to every subscriber, because the message then creates no deliveries.
   */
  const targets = (request: Resend, isKnown: boolean): readonly Endpoint[] => {
    const { event, endpointId } = request
    const named = endpointId === undefined ? undefined : endpoints.get(endpointId)
    const isFirst = !isKnown && !request.settled
    return [...endpoints.ofTenant(event.tenant)].filter(
      (endpoint) =>
        exists(endpoint) &&
        (endpoint === named ||
          ((endpointId === undefined || isFirst) && subscribesTo(endpoint, event))),
    )
  }

  const addDeliveries = async (events: readonly EventRow[], deliveries: readonly Delivery[]) => {
    await store.commit({ events, deliveries })
    pool.deliver(deliveries)
  }

  return { one, failed, resend }
}

interface FailedPage {
  /** Id of the last event of the page before. */
  readonly above: string
  readonly size: number
}

const exists = (endpoint: Endpoint | undefined): endpoint is Endpoint =>
  endpoint !== undefined && endpoint.status !== 'deleted'

function underItsId(delivery: Delivery, orphan: OrphanDelivery | undefined): Delivery {
  if (orphan === undefined) return delivery
  const context = { ...delivery.context, tries: orphan.lastNumber ?? 0 }
  return { ...delivery, id: orphan.id, context }
}

const rowOf = async <T>(found: Promise<T | undefined>): Promise<readonly T[]> => {
  const row = await found
  return row === undefined ? [] : [row]
}

function redriven(row: DeliveryView, at: Instant): readonly DeliveryView[] {
  const after = deliveryTransitions.step(row.state, row.context, { type: 'redrive', at })
  return after === null ? [] : [{ ...row, state: after.state, context: after.context }]
}
