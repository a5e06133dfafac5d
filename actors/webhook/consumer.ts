/**
 * From the bus into the pool's own books.
 *
 * Owns: which messages are new, which endpoints an event goes to, when a message is acknowledged.
 * Does not own: the bus (src/bus), sending (webhook/pool).
 *
 * C1. A batch is one commit, and is acknowledged only after it: from then on the pool owns the
 *     deliveries.
 * C2. An event that is here already makes no second delivery, however often and under whatever
 *     message id it comes.
 * C3. A message that is no event of ours is set aside, kept, and never stops the others.
 * C4. Nothing is routed while the directory is out of step. An endpoint that becomes known a moment
 *     after an event that is meant for it gets that event still: batches and late endpoints take
 *     turns.
 */
import { createHash } from 'node:crypto'
import { MINUTE, plus, type Clock, type Instant } from '../../src/base/clock.js'
import { newId, type DeliveryId, type EventId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import type { Random } from '../../src/base/random.js'
import { EVENT_HEADERS } from '../../src/base/subjects.js'
import type { BusMessage, Consumer } from '../../src/bus/consumer.js'
import { fromMessage, type BusEvent } from '../../src/bus/event_message.js'
import { newDelivery } from './delivery_machine.js'
import { wants, type Endpoint } from './endpoint.js'
import type { Endpoints } from './endpoints.js'
import type { EventRow, PoisonRow } from './rows.js'
import type { Delivery, WebhookStore } from './store.js'

/** How young an endpoint must be to have missed an event by a hair. */
const LATE_ENDPOINT_MS = MINUTE
/** Enough of a foreign message to see what it is. */
const POISON_KEPT_BYTES = 16 * 1024

export interface IntakeOptions {
  readonly consumer: Consumer
  readonly endpoints: Pick<Endpoints, 'ofTenant' | 'inStep'>
  readonly store: Pick<WebhookStore, 'commit' | 'knownEvents' | 'eventsWithout'>
  /** Takes deliveries whose rows are on disk. */
  readonly deliver: (deliveries: readonly Delivery[]) => void
  /** Told after a commit that may have settled events: some have no endpoint. */
  readonly settled: () => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface Intake {
  /** Reads until the bus or the directory is closed. */
  run(): Promise<void>
  /** Gives a young endpoint the events that came before it was known. */
  meet(endpoint: Endpoint): void
  /** For metrics. */
  readonly counts: { events: number; duplicates: number; poison: number }
  idle(): Promise<void>
}

type EventToRoute = Pick<BusEvent, 'type' | 'createdAt' | 'body'> & { readonly id: EventId }

export function createIntake(options: IntakeOptions): Intake {
  const { consumer, endpoints, store, clock, random, log } = options
  const counts = { events: 0, duplicates: 0, poison: 0 }
  let turn: Promise<void> = Promise.resolve()

  const inTurn = (work: () => Promise<void>): Promise<void> => (turn = turn.then(work))

  const run = async (): Promise<void> => {
    for (;;) {
      const messages = await consumer.next()
      if (messages.length === 0) return
      if (!(await endpoints.inStep())) return
      await inTurn(() => take(messages))
    }
  }

  const take = async (messages: readonly BusMessage[]): Promise<void> => {
    const now = clock.now()
    const { events, poison } = sort(messages, now)
    const known = await store.knownEvents([...events.keys()])
    const fresh = [...events.values()].filter(({ id }) => !known.has(id))
    const deliveries = fresh.flatMap((event) =>
      [...endpoints.ofTenant(event.tenant)]
        .filter((endpoint) => wants(endpoint, event))
        .map((endpoint) => address(event, endpoint, now)),
    )
    await store.commit({ events: fresh, deliveries, poison, seenAgain: [...known] })
    for (const message of messages) message.ack()
    counts.events += fresh.length
    counts.duplicates += messages.length - fresh.length - poison.length
    counts.poison += poison.length
    options.deliver(deliveries)
    options.settled()
  }

  const sort = (messages: readonly BusMessage[], now: Instant) => {
    const events = new Map<EventId, EventRow>()
    const poison: PoisonRow[] = []
    for (const message of messages) {
      const read = fromMessage((name) => message.header(name), message.payload)
      if (read.ok) {
        events.set(read.event.id, { ...read.event, receivedAt: now })
      } else {
        log.error({ subject: message.subject, reason: read.reason }, 'message set aside')
        poison.push(setAside(message, read.reason, now))
      }
    }
    return { events, poison }
  }

  const address = (event: EventToRoute, endpoint: Endpoint, now: Instant): Delivery => ({
    id: newId<DeliveryId>('delivery', now, random),
    eventId: event.id,
    endpointId: endpoint.id,
    eventType: event.type,
    eventCreatedAt: event.createdAt,
    body: event.body,
    state: 'pending',
    context: newDelivery(now),
  })

  const meet = (endpoint: Endpoint): void => {
    const since = plus(clock.now(), -LATE_ENDPOINT_MS)
    if (endpoint.createdAt < since) return
    void inTurn(async () => {
      const { id, tenant, createdAt } = endpoint
      const missed = await store.eventsWithout(id, tenant, { received: since, created: createdAt })
      const now = clock.now()
      const deliveries = missed
        .filter(({ type, createdAt: at }) => wants(endpoint, { tenant, type, createdAt: at }))
        .map((event) => address(event, endpoint, now))
      if (deliveries.length === 0) return
      await store.commit({ deliveries })
      options.deliver(deliveries)
    })
  }

  return { run, meet, counts, idle: async () => turn }
}

function setAside(message: BusMessage, reason: string, at: Instant): PoisonRow {
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
