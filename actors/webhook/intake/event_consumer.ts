/**
 * From the bus into the pool's own books.
 *
 * Owns: which messages are new, which endpoints an event goes to, when a message is acknowledged.
 * Does not own: the bus (src/bus), sending (webhook/pool).
 *
 * - A message is acknowledged after the commit that holds its events and deliveries: from then on
 *   the pool owns them. Until then the stream does, so a first try need not wait for the disk: a
 *   crash leads to another try at most.
 * - An event that is here already makes no second delivery, however often and under whatever
 *   message id it comes.
 * - A message that is not events of ours is set aside, kept, and never stops the others.
 * - Nothing is routed while the directory is out of step. An endpoint that becomes known a moment
 *   after an event that is meant for it gets that event still: batches and late endpoints take
 *   turns.
 */
import { createHash } from 'node:crypto'
import { MINUTE, plus, type Clock, type Instant } from '../../../src/base/clock.js'
import { newId, type DeliveryId, type EventId } from '../../../src/base/ids.js'
import type { Logger } from '../../../src/base/log.js'
import type { Random } from '../../../src/base/random.js'
import { EVENT_HEADERS } from '../../../src/base/subjects.js'
import type { BusMessage, Consumer } from '../../../src/bus/consumer.js'
import { fromMessage, type BusEvent } from '../../../src/bus/event_message.js'
import { newDelivery } from '../delivery/machine.js'
import { wants, type Endpoint } from '../endpoint/endpoint.js'
import type { Endpoints } from '../endpoint/endpoint_directory.js'
import type { EventRow, PoisonRow } from '../store/schema.js'
import type { Delivery, WebhookStore } from '../store/store.js'

/** How young an endpoint, or what it wants, must be to have missed an event by a hair. */
const LATE_ENDPOINT_MS = MINUTE
/** Enough of a foreign message to see what it is. */
const POISON_KEPT_BYTES = 16 * 1024

export interface EventConsumerOptions {
  readonly consumer: Consumer
  readonly endpoints: Pick<Endpoints, 'ofTenant' | 'inStep'>
  readonly store: Pick<WebhookStore, 'commit' | 'dedupWindow' | 'eventsWithout'>
  /** Takes deliveries whose rows are on disk once `stored` resolves. */
  readonly deliver: (deliveries: readonly Delivery[], stored: Promise<void>) => void
  /** Told after a commit that may have settled events: some have no endpoint. */
  readonly settled: () => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface EventConsumer {
  /** Reads until the bus or the directory is closed. */
  run(): Promise<void>
  /** Gives an endpoint the events that came before it, or what it wants, was known. */
  applyEndpoint(endpoint: Endpoint): void
  /** Does something to events or their deliveries while no batch and no late endpoint does. */
  inOrder<T>(work: () => Promise<T>): Promise<T>
  /** For metrics. */
  readonly counts: { events: number; duplicates: number; poison: number }
  idle(): Promise<void>
}

type EventToRoute = Pick<BusEvent, 'type' | 'createdAt' | 'body'> & { readonly id: EventId }

export function createEventConsumer(options: EventConsumerOptions): EventConsumer {
  const { consumer, endpoints, store, clock, random, log } = options
  const counts = { events: 0, duplicates: 0, poison: 0 }
  let turn: Promise<unknown> = Promise.resolve()
  /** Resolves when all that was taken is on disk; how much that can be is bounded by the bus. */
  let allStored: Promise<void> = Promise.resolve()

  const inOrder = <T>(work: () => Promise<T>): Promise<T> => nextInOrder(() => allStored.then(work))

  const nextInOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  const run = async (): Promise<void> => {
    for (;;) {
      const messages = await consumer.next()
      if (messages.length === 0) return
      if (!(await endpoints.inStep())) return
      await nextInOrder(() => take(messages))
    }
  }

  const take = async (messages: readonly BusMessage[]): Promise<void> => {
    const now = clock.now()
    const { events, arrived, poison } = sort(messages, now)
    const known = await store.dedupWindow([...events.keys()])
    const fresh = [...events.values()].filter(({ id }) => !known.has(id))
    const deliveries = fresh.flatMap((event) => addressed(event, now))
    const stored = store.commit({ events: fresh, deliveries, poison, seenAgain: [...known] })
    options.deliver(deliveries, stored)
    allStored = stored.then(() => {
      for (const message of messages) message.ack()
      counts.events += fresh.length
      counts.duplicates += arrived - fresh.length
      counts.poison += poison.length
      options.settled()
    })
  }

  const addressed = (event: EventRow, now: Instant): Delivery[] => {
    const deliveries: Delivery[] = []
    for (const endpoint of endpoints.ofTenant(event.tenant)) {
      if (wants(endpoint, event)) deliveries.push(address(event, endpoint, now, random))
    }
    return deliveries
  }

  const sort = (messages: readonly BusMessage[], now: Instant) => {
    const events = new Map<EventId, EventRow>()
    const poison: PoisonRow[] = []
    let arrived = 0
    for (const message of messages) {
      const read = fromMessage(message)
      if (!read.ok) {
        log.error({ subject: message.subject, reason: read.reason }, 'message set aside')
        poison.push(recordPoison(message, read.reason, now))
        continue
      }
      arrived += read.events.length
      for (const event of read.events) events.set(event.id, { ...event, receivedAt: now })
    }
    return { events, arrived, poison }
  }

  const applyEndpoint = (endpoint: Endpoint): void => {
    const since = plus(clock.now(), -LATE_ENDPOINT_MS)
    if (endpoint.enabledEventsSince < since) return
    void inOrder(async () => {
      const { id, tenant, enabledEventsSince: created } = endpoint
      const missed = await store.eventsWithout(id, tenant, { received: since, created })
      const now = clock.now()
      const deliveries = missed
        .filter((event) => wants(endpoint, { tenant, ...event }))
        .map((event) => address(event, endpoint, now, random))
      if (deliveries.length === 0) return
      const stored = store.commit({ deliveries })
      options.deliver(deliveries, stored)
      await stored
    })
  }

  const idle = async (): Promise<void> => {
    await turn
    await allStored
  }

  return { run, applyEndpoint, inOrder, counts, idle }
}

/** A new delivery of an event. */
export function address(
  event: EventToRoute,
  endpoint: Pick<Endpoint, 'id'>,
  at: Instant,
  random: Random,
): Delivery {
  return {
    id: newId<DeliveryId>('delivery', at, random),
    eventId: event.id,
    endpointId: endpoint.id,
    eventType: event.type,
    eventCreatedAt: event.createdAt,
    body: event.body,
    state: 'pending',
    context: newDelivery(at),
  }
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
