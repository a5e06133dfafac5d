/**
 * Publishes events with pipelined acknowledgements.
 *
 * Owns: bundling events into messages, the window of unacknowledged events, their deadlines. Does
 * not own: the connection (bus/nats), handling of unknown outcomes (processor/background/relay).
 *
 * - An event is stored only when the stream acknowledges it. A timeout, an error and a lost
 *   connection are unknown outcomes.
 * - Every promise settles: by its acknowledgement, at its deadline, or when the connection is lost.
 * - All acknowledgements arrive at one shared inbox: an awaited request for each message costs 16
 *   times as much.
 * - Events of one tenant in one iteration of the event loop share a message: to the server and to
 *   both drivers a message costs far more than an event.
 * - A republished event travels alone, so an event that makes its message unreadable delays others
 *   only once.
 */
import { plus, SECOND, type Clock, type Instant } from '../base/clock.js'
import type { TenantId } from '../base/ids.js'
import { createTickets } from '../base/tickets.js'
import { toMessage, type BusEvent, type EventMessage } from './event_message.js'

/** About 40 ms of a loaded server: keeps it busy, and is little to republish after an outage. */
const UNCONFIRMED_MAX = 2_048
/** More events save little per message and add to the redeliveries after a crash. */
const BUNDLE_MAX = 16
/** At most 256 KiB of UTF-8, far below the server's default limit of 1 MiB. */
const BUNDLE_MAX_CHARACTERS = 64 * 1024
const CONFIRMED_WITHIN_MS = 2 * SECOND
const EXPIRE_EVERY_MS = 250

export interface Publisher {
  /**
   * True means that the stream has stored the event, false that this is unknown. Never rejects.
   * @param isRepeated whether the event may have been published before
   */
  publish(event: BusEvent, messageId: string, isRepeated?: boolean): Promise<boolean>
  /** How many messages the window can still take; 0 while the bus is down. */
  capacity(): number
  /** Events since the start, by what is known of them. */
  readonly published: { readonly stored: number; readonly unknown: number }
  /** Called each time the bus comes up. `emptied`: the stream was recreated and lost its events. */
  onUp(handler: (emptied: boolean) => void): void
}

/** Sends one message; its acknowledgement arrives with `ticket`. */
export type SendMessage = (message: EventMessage, ticket: number) => void

export interface PublisherEnd {
  readonly publisher: Publisher
  attach(send: SendMessage, emptied: boolean): void
  detach(): void
  /** The stream's acknowledgement or refusal of a message. */
  answer(ticket: number, stored: boolean): void
}

/** Events that share a message. */
interface Bundle {
  readonly tenant: TenantId
  readonly messageId: string
  readonly isRepeated: boolean
  readonly events: BusEvent[]
  readonly settles: ((stored: boolean) => void)[]
  characters: number
}

interface Unconfirmed {
  readonly deadline: Instant
  readonly bundle: Bundle
}

export function createPublisher(clock: Clock): PublisherEnd {
  /** The bundles that this iteration of the event loop has gathered. */
  const bundles = new Map<TenantId, Bundle>()
  const unconfirmed = createTickets<Unconfirmed>(UNCONFIRMED_MAX)
  /** Number of events in both. */
  let outstanding = 0
  let send: SendMessage | undefined
  const published = { stored: 0, unknown: 0 }
  let upHandler: (emptied: boolean) => void = () => undefined
  let expiryTimer: NodeJS.Timeout | undefined

  const publish = (event: BusEvent, messageId: string, isRepeated = false): Promise<boolean> =>
    new Promise((resolve) => {
      if (send === undefined || outstanding >= UNCONFIRMED_MAX) return resolve(false)
      outstanding += 1
      const bundle = bundleFor(event, messageId, isRepeated)
      bundle.events.push(event)
      bundle.settles.push(resolve)
      bundle.characters += event.body.length
      if (messageId !== event.id) sendBundle(bundle)
    })

  const bundleFor = (
    { id, tenant, body }: BusEvent,
    messageId: string,
    isRepeated: boolean,
  ): Bundle => {
    const made: Bundle = { tenant, messageId, isRepeated, events: [], settles: [], characters: 0 }
    if (messageId !== id) return made
    const bundle = bundles.get(tenant)
    if (bundle?.isRepeated === isRepeated && hasCapacityFor(bundle, body)) return bundle
    if (bundle !== undefined) sendBundle(bundle)
    else if (bundles.size === 0) queueMicrotask(sendAll)
    bundles.set(tenant, made)
    return made
  }

  const sendAll = (): void => {
    const all = [...bundles.values()]
    bundles.clear()
    for (const bundle of all) sendBundle(bundle)
  }

  const sendBundle = (bundle: Bundle): void => {
    const { tenant, events, isRepeated } = bundle
    const ticket = unconfirmed.add({ deadline: plus(clock.now(), CONFIRMED_WITHIN_MS), bundle })
    if (send === undefined) return answer(ticket, false) // lost in this iteration
    try {
      send(toMessage(tenant, events, idOf(bundle), isRepeated), ticket)
    } catch {
      answer(ticket, false)
    }
  }

  const answer = (ticket: number, stored: boolean): void => {
    const answered = unconfirmed.take(ticket)
    if (answered !== undefined) settle(answered, stored)
  }

  const settle = ({ bundle: { settles } }: Unconfirmed, stored: boolean): void => {
    outstanding -= settles.length
    published[stored ? 'stored' : 'unknown'] += settles.length
    for (const each of settles) each(stored)
  }

  const expireOverdue = (): void => {
    const now = clock.now()
    for (const overdue of unconfirmed.takeAll(({ deadline }) => deadline <= now)) {
      settle(overdue, false)
    }
  }

  const attach = (link: SendMessage, emptied: boolean): void => {
    send = link
    expiryTimer ??= setInterval(expireOverdue, EXPIRE_EVERY_MS)
    upHandler(emptied)
  }

  const detach = (): void => {
    send = undefined
    clearInterval(expiryTimer)
    expiryTimer = undefined
    for (const lost of unconfirmed.takeAll()) settle(lost, false)
  }

  const publisher: Publisher = {
    publish,
    published,
    capacity: () => (send === undefined ? 0 : UNCONFIRMED_MAX - outstanding),
    onUp: (handler) => {
      upHandler = handler
    },
  }
  return { publisher, attach, detach, answer }
}

const hasCapacityFor = ({ events, characters }: Bundle, body: string): boolean =>
  events.length < BUNDLE_MAX && characters + body.length <= BUNDLE_MAX_CHARACTERS

/** Names exactly these events, because the stream drops a message whose id it has seen. */
const idOf = ({ messageId, events: [, ...others] }: Bundle): string =>
  [messageId, ...others.map(({ sequence }) => sequence)].join('+')
