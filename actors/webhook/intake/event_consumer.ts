/**
 * Consumes events from the bus: deduplicates, routes to endpoints, stores, acknowledges.
 *
 * Does not own: the bus (src/bus), sending (webhook/pool), which pool takes a repeated event
 * (intake/event_claims).
 *
 * - A message is acknowledged after the commit of its events and deliveries. Until then it stays in
 *   the stream, so a first attempt need not wait for the disk: a crash leads at most to one more
 *   attempt.
 * - A known event creates no second delivery, under any message id. Events of a repeated message
 *   are taken once no other pool has them (intake/event_claims), as many at a time as the
 *   bus delivers without an acknowledgement: each is in work once, or stays in the stream.
 * - A poison message is stored with its reason and does not stop the others.
 * - An event is routed while the directory of its tenant is synced. An unreachable processor delays
 *   only its own tenants: their messages are held for HOLD_MS, then left to the bus, which
 *   redelivers them. An endpoint that arrives shortly after one of its events still gets it:
 *   batches and endpoint changes are serialized.
 * - Batches carry the events of every tenant. Between two of them at most one other work runs,
 *   and the changes of an endpoint that wait are routed together: no tenant holds up the intake.
 */
import { createHash } from 'node:crypto'
import { MINUTE, plus, SECOND, type Clock, type Instant } from '../../../src/base/clock.js'
import { crashPoint } from '../../../src/base/crash_point.js'
import {
  newId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  type TenantId,
} from '../../../src/base/ids.js'
import type { Logger } from '../../../src/base/log.js'
import type { Random } from '../../../src/base/random.js'
import { EVENT_HEADERS, tenantIn } from '../../../src/base/subjects.js'
import { ACK_PENDING_MAX, type BusMessage, type Consumer } from '../../../src/bus/consumer.js'
import { fromMessage, isTenant, type BusEvent } from '../../../src/bus/event_message.js'
import { newDelivery } from '../delivery/machine.js'
import { subscribesTo, type Endpoint } from '../endpoint/endpoint.js'
import type { Endpoints } from '../endpoint/endpoint_directory.js'
import type { EventClaims } from './event_claims.js'
import type { EventRow, PoisonRow } from '../store/schema.js'
import type { Delivery, WebhookStore } from '../store/store.js'

/** Age up to which an endpoint, or its subscription, may have missed events already routed. */
const LATE_ENDPOINT_MS = MINUTE
/** Enough of a poison message to identify its origin. */
const POISON_KEPT_BYTES = 16 * 1024
/** Shorter than the bus waits for an acknowledgement, else another pool gets the message too. */
const HOLD_MS = 3 * SECOND

export interface EventConsumerOptions {
  readonly consumer: Consumer
  readonly endpoints: Pick<
    Endpoints,
    'ofTenant' | 'isSynced' | 'whenSynced' | 'isAnySynced' | 'whenAnySynced' | 'isAllSynced'
  >
  readonly store: Pick<WebhookStore, 'commit' | 'dedupWindow' | 'eventsWithout'>
  readonly claims: Pick<EventClaims, 'ask' | 'isYielded'>
  /** Receives deliveries; their rows are on disk once `stored` resolves. */
  readonly deliver: (deliveries: readonly Delivery[], stored: Promise<void>) => void
  /** Called after each commit: events without an endpoint are settled by it. */
  readonly settled: () => void
  /** Repeated messages in work. Default: ACK_PENDING_MAX. */
  readonly repeatedMax?: number
  /** Called with a fault of ours; the process must exit. */
  readonly failed: (fault: unknown) => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface EventConsumer {
  /** Consumes until the bus or the directory is closed. Never rejects. */
  run(): Promise<void>
  /** Routes events to an endpoint that became known, or changed its subscription, after them. */
  applyEndpoint(endpoint: Endpoint): void
  /** Runs `work` serialized with batches and endpoint changes. */
  inOrder<T>(work: () => Promise<T>): Promise<T>
  /** For metrics. */
  readonly counts: { events: number; duplicates: number; poison: number }
  idle(): Promise<void>
}

/** Decoded messages. */
interface Batch {
  readonly messages: readonly BusMessage[]
  readonly now: Instant
  readonly events: ReadonlyMap<EventId, EventRow>
  /** Number of events, with repetitions. */
  readonly arrived: number
  readonly poison: readonly PoisonRow[]
}

/** An endpoint that may have missed events. */
interface LateEndpoint {
  /** As it was when it began to wait. */
  readonly first: Endpoint
  readonly newest: Endpoint
  readonly receivedSince: Instant
}

type EventToRoute = Pick<
  BusEvent,
  'tenant' | 'type' | 'createdAt' | 'requestId' | 'traceparent' | 'body'
> & { readonly id: EventId }

export function createEventConsumer(options: EventConsumerOptions): EventConsumer {
  const { consumer, endpoints, store, claims, clock, random, log, failed } = options
  const { repeatedMax = ACK_PENDING_MAX } = options
  const counts = { events: 0, duplicates: 0, poison: 0 }
  let tail: Promise<unknown> = Promise.resolve()
  /** Work other than batches: one at a time, so that each leaves the next batch before it. */
  let others: Promise<unknown> = Promise.resolve()
  const late = new Map<EndpointId, LateEndpoint>()
  let routing: Promise<void> | undefined
  let repeatedInWork = 0
  /** Resolves when every consumed message is on disk; the bus bounds their number. */
  let allStored: Promise<void> = Promise.resolve()

  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const result = others.then(() => serialized(() => allStored.then(work)))
    others = result.catch(() => undefined)
    return result
  }

  const serialized = <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work)
    tail = result.catch(() => undefined)
    return result
  }

  const consume = async (): Promise<void> => {
    for (;;) {
      const messages = await consumer.next()
      if (messages.length === 0) return
      if (!endpoints.isAnySynced() && !(await endpoints.whenAnySynced())) return
      const late = messages.filter((message) => !isSynced(message))
      const now = late.length === 0 ? messages : messages.filter((each) => !late.includes(each))
      await storeOrClaim(now)
      for (const [tenant, held] of byTenant(late)) hold(tenant, held).catch(failed)
    }
  }

  /** A message without a valid tenant is poison and needs no directory. */
  const isSynced = (message: BusMessage): boolean => {
    const tenant = tenantIn(message.subject)
    return !isTenant(tenant) || endpoints.isSynced(tenant)
  }

  /**
   * Holds messages until the directory of their tenant is synced. A tenant that no processor has,
   * has no endpoint.
   */
  const hold = async (tenant: TenantId, messages: readonly BusMessage[]): Promise<void> => {
    await endpoints.whenSynced(tenant, HOLD_MS)
    if (endpoints.isSynced(tenant) || endpoints.isAllSynced()) await storeOrClaim(messages)
  }

  /** Resolves when the messages that are not repeated are stored. */
  const storeOrClaim = async (messages: readonly BusMessage[]): Promise<void> => {
    const repeated = messages.filter((message) => message.isRepeated())
    const first = messages.filter((message) => !repeated.includes(message))
    if (repeated.length > 0 && repeatedInWork < repeatedMax) {
      repeatedInWork += repeated.length
      takeUnclaimed(repeated)
        .catch(failed)
        .finally(() => (repeatedInWork -= repeated.length))
    }
    if (first.length > 0) await serialized(() => storeBatch(decode(first), claims.isYielded))
  }

  /** Messages of which another pool does not answer are left to the bus, which redelivers them. */
  const takeUnclaimed = async (messages: readonly BusMessage[]): Promise<void> => {
    const batch = decode(messages)
    const known = await store.dedupWindow([...batch.events.keys()])
    const unknown = [...batch.events.values()].filter(({ id }) => !known.has(id))
    const take = (held: ReadonlySet<EventId>): Promise<void> =>
      serialized(() => storeBatch(batch, (id) => held.has(id)))
    await (unknown.length === 0 ? take(new Set()) : claims.ask(unknown, take))
  }

  const storeBatch = async (
    { messages, now, events, arrived, poison }: Batch,
    isElsewhere: (id: EventId) => boolean,
  ): Promise<void> => {
    const known = await store.dedupWindow([...events.keys()])
    const fresh = [...events.values()].filter(({ id }) => !known.has(id) && !isElsewhere(id))
    const deliveries = fresh.flatMap((event) => deliveriesOf(event, now))
    crashPoint('delivery.received')
    const stored = store.commit({ events: fresh, deliveries, poison, seenAgain: [...known] })
    options.deliver(deliveries, stored)
    allStored = stored.then(() => {
      crashPoint('delivery.stored')
      for (const message of messages) message.ack()
      counts.events += fresh.length
      counts.duplicates += arrived - fresh.length
      counts.poison += poison.length
      options.settled()
    })
  }

  const deliveriesOf = (event: EventRow, now: Instant): Delivery[] => {
    const deliveries: Delivery[] = []
    for (const endpoint of endpoints.ofTenant(event.tenant)) {
      if (subscribesTo(endpoint, event)) deliveries.push(deliveryTo(endpoint, event, now, random))
    }
    return deliveries
  }

  const decode = (messages: readonly BusMessage[]): Batch => {
    const now = clock.now()
    const events = new Map<EventId, EventRow>()
    const poison: PoisonRow[] = []
    let arrived = 0
    for (const message of messages) {
      const read = fromMessage(message)
      if (!read.ok) {
        log.error({ subject: message.subject, reason: read.reason }, 'poison message stored')
        poison.push(recordPoison(message, read.reason, now))
        continue
      }
      arrived += read.events.length
      for (const event of read.events) events.set(event.id, { ...event, receivedAt: now })
    }
    return { messages, now, events, arrived, poison }
  }

  const applyEndpoint = (newest: Endpoint): void => {
    const since = plus(clock.now(), -LATE_ENDPOINT_MS)
    if (newest.enabledEventsSince < since) return
    const { first = newest, receivedSince = since } = late.get(newest.id) ?? {}
    late.set(newest.id, { first, newest, receivedSince })
    routing ??= routeLate().catch(failed)
  }

  const routeLate = async (): Promise<void> => {
    for (const id of late.keys()) await inOrder(() => routeMissed(id))
    routing = undefined
  }

  const routeMissed = async (id: EndpointId): Promise<void> => {
    const { first, newest, receivedSince } = late.get(id)!
    late.delete(id)
    if (newest.status === 'deleted') return
    const now = clock.now()
    const createdSince = first.enabledEventsSince
    const receivedBy = plus(now, LATE_ENDPOINT_MS)
    const within = { receivedSince, receivedBy, createdSince }
    const missed = await store.eventsWithout(id, newest.tenant, within)
    const deliveries = missed
      .filter((event) =>
        subscribesTo(event.createdAt < newest.enabledEventsSince ? first : newest, event),
      )
      .map((event) => deliveryTo(newest, event, now, random))
    if (deliveries.length === 0) return
    const stored = store.commit({ deliveries })
    options.deliver(deliveries, stored)
    await stored
  }

  const idle = async (): Promise<void> => {
    await routing
    await others
    await tail
    await allStored
  }

  return { run: () => consume().catch(failed), applyEndpoint, inOrder, counts, idle }
}

/** A new delivery. */
export function deliveryTo(
  endpoint: Pick<Endpoint, 'id'>,
  event: EventToRoute,
  at: Instant,
  random: Random,
): Delivery {
  return {
    id: newId<DeliveryId>('delivery', at, random),
    eventId: event.id,
    endpointId: endpoint.id,
    eventType: event.type,
    eventCreatedAt: event.createdAt,
    tenant: event.tenant,
    requestId: event.requestId,
    traceparent: event.traceparent,
    body: event.body,
    state: 'pending',
    context: newDelivery(at),
  }
}

function byTenant(messages: readonly BusMessage[]): Map<TenantId, BusMessage[]> {
  const groups = new Map<TenantId, BusMessage[]>()
  for (const message of messages) {
    const tenant = tenantIn(message.subject) as TenantId
    groups.set(tenant, [...(groups.get(tenant) ?? []), message])
  }
  return groups
}

function recordPoison(message: BusMessage, reason: string, at: Instant): PoisonRow {
  const headers = Object.values(EVENT_HEADERS).map((name) => [name, message.header(name)] as const)
  return {
    digest: createHash('sha256').update(message.payload).digest('hex'),
    subject: message.subject,
    headers: Object.fromEntries(headers),
    payloadBase64: Buffer.from(message.payload).subarray(0, POISON_KEPT_BYTES).toString('base64'),
    reason,
    at,
  }
}
