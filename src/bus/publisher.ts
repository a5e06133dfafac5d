/**
 * Publishing with pipelined acknowledgements.
 *
 * Owns: which events travel together, the window of those that are out and not acknowledged, and
 * when one counts as not stored. Does not own: the connection (bus/nats), what to do about an
 * unknown outcome (processor/background/relay).
 *
 * - A message is stored only when the stream says so. Silence, an error and a broken link all
 *   mean "not known".
 * - Every promise settles: by its acknowledgement, at its deadline, or when the link goes.
 * - All acknowledgements come to one shared inbox: an awaited request for each message costs 16
 *   times as much.
 * - A tenant's events of one turn of the event loop travel in one message: to the server and to
 *   both drivers a message costs far more than an event.
 * - What is published anew travels alone, so that an event which makes a message unreadable can
 *   hold up others only once.
 */
import { plus, SECOND, type Clock, type Instant } from '../base/clock.js'
import type { TenantId } from '../base/ids.js'
import { toMessage, type BusEvent, type EventMessage } from './event_message.js'

/**
 * Some 40 ms of a loaded server: enough to keep it busy, little enough to send again after an
 * outage.
 */
const UNCONFIRMED_MAX = 2_048
/** Beyond it another event adds little to the gain, and much to what comes again after a crash. */
const TOGETHER_MAX = 16
/** Far below what a server takes, a mebibyte by default, whatever the characters are. */
const TOGETHER_MAX_CHARACTERS = 64 * 1024
const CONFIRMED_WITHIN_MS = 2 * SECOND
const LOOK_EVERY_MS = 250

export interface Publisher {
  /** True when the stream holds the event, false when that is not known. Never rejects. */
  publish(event: BusEvent, messageId: string): Promise<boolean>
  /** How many more events may be published now; none while the bus is down. */
  room(): number
  /**
   * Called each time the bus comes up. `emptied`: the stream was made anew, what it held is gone.
   */
  onUp(handler: (emptied: boolean) => void): void
}

/** Sends one message whose acknowledgement comes back under `ticket`. */
export type SendMessage = (message: EventMessage, ticket: number) => void

export interface PublisherEnd {
  readonly publisher: Publisher
  attach(send: SendMessage, emptied: boolean): void
  detach(): void
  /** The stream's answer to a ticket. */
  answer(ticket: number, stored: boolean): void
}

/** Events that travel together. */
interface Bundle {
  readonly tenant: TenantId
  readonly messageId: string
  readonly events: BusEvent[]
  readonly settles: ((stored: boolean) => void)[]
  characters: number
}

interface Unconfirmed {
  readonly deadline: Instant
  readonly bundle: Bundle
}

export function createPublisher(clock: Clock): PublisherEnd {
  /** Of this turn. */
  const bundles = new Map<TenantId, Bundle>()
  /** In the order of their deadlines. */
  const unconfirmed = new Map<number, Unconfirmed>()
  /** Events in both. */
  let out = 0
  let send: SendMessage | undefined
  let lastTicket = 0
  let upHandler: (emptied: boolean) => void = () => undefined
  let looking: NodeJS.Timeout | undefined

  const publish = (event: BusEvent, messageId: string): Promise<boolean> =>
    new Promise((settle) => {
      if (send === undefined || out >= UNCONFIRMED_MAX) return settle(false)
      out += 1
      const bundle = bundleFor(event, messageId)
      bundle.events.push(event)
      bundle.settles.push(settle)
      bundle.characters += event.body.length
      if (messageId !== event.id) leave(bundle)
    })

  const bundleFor = ({ id, tenant, body }: BusEvent, messageId: string): Bundle => {
    const made: Bundle = { tenant, messageId, events: [], settles: [], characters: 0 }
    if (messageId !== id) return made
    const bundle = bundles.get(tenant)
    if (bundle !== undefined && hasRoomFor(bundle, body)) return bundle
    if (bundle !== undefined) leave(bundle)
    else if (bundles.size === 0) queueMicrotask(leaveAll)
    bundles.set(tenant, made)
    return made
  }

  const leaveAll = (): void => {
    const all = [...bundles.values()]
    bundles.clear()
    for (const bundle of all) leave(bundle)
  }

  const leave = (bundle: Bundle): void => {
    const { tenant, events } = bundle
    lastTicket += 1
    unconfirmed.set(lastTicket, { deadline: plus(clock.now(), CONFIRMED_WITHIN_MS), bundle })
    if (send === undefined) return answer(lastTicket, false) // the link went within the turn
    try {
      send(toMessage(tenant, events, idOf(bundle)), lastTicket)
    } catch {
      answer(lastTicket, false)
    }
  }

  const answer = (ticket: number, stored: boolean): void => {
    const waiting = unconfirmed.get(ticket)
    if (waiting === undefined) return
    unconfirmed.delete(ticket)
    const { settles } = waiting.bundle
    out -= settles.length
    for (const settle of settles) settle(stored)
  }

  const giveUpOverdue = (): void => {
    const now = clock.now()
    for (const [ticket, { deadline }] of unconfirmed) {
      if (deadline > now) return
      answer(ticket, false)
    }
  }

  const attach = (link: SendMessage, emptied: boolean): void => {
    send = link
    looking ??= setInterval(giveUpOverdue, LOOK_EVERY_MS)
    upHandler(emptied)
  }

  const detach = (): void => {
    send = undefined
    clearInterval(looking)
    looking = undefined
    for (const ticket of [...unconfirmed.keys()]) answer(ticket, false)
  }

  const publisher: Publisher = {
    publish,
    room: () => (send === undefined ? 0 : UNCONFIRMED_MAX - out),
    onUp: (handler) => {
      upHandler = handler
    },
  }
  return { publisher, attach, detach, answer }
}

const hasRoomFor = ({ events, characters }: Bundle, body: string): boolean =>
  events.length < TOGETHER_MAX && characters + body.length <= TOGETHER_MAX_CHARACTERS

/** Of exactly these events: the stream drops others that come under an id it knows. */
const idOf = ({ messageId, events: [, ...others] }: Bundle): string =>
  [messageId, ...others.map(({ sequence }) => sequence)].join('+')
