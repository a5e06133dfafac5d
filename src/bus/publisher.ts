/**
 * Publishing with pipelined acknowledgements.
 *
 * Owns: the window of messages that are out and not acknowledged, and when one counts as not
 * stored. Does not own: the connection (bus/nats), what to do about an unknown outcome
 * (processor/background/relay).
 *
 * P1. A message is stored only when the stream says so. Silence, an error and a broken link all
 *     mean "not known".
 * P2. Every promise settles: by its acknowledgement, at its deadline, or when the link goes.
 * P3. All acknowledgements come to one shared inbox: an awaited request for each message costs 16
 *     times as much.
 */
import { plus, SECOND, type Clock, type Instant } from '../base/clock.js'
import { toMessage, type BusEvent, type EventMessage } from './event_message.js'

/**
 * Some 40 ms of a loaded server: enough to keep it busy, little enough to send again after an
 * outage.
 */
const UNCONFIRMED_MAX = 2_048
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

interface Unconfirmed {
  readonly deadline: Instant
  readonly settle: (stored: boolean) => void
}

export function createPublisher(clock: Clock): PublisherEnd {
  /** In the order of their deadlines. */
  const unconfirmed = new Map<number, Unconfirmed>()
  let send: SendMessage | undefined
  let lastTicket = 0
  let upHandler: (emptied: boolean) => void = () => undefined
  let looking: NodeJS.Timeout | undefined

  const publish = (event: BusEvent, messageId: string): Promise<boolean> =>
    new Promise((settle) => {
      if (send === undefined || unconfirmed.size >= UNCONFIRMED_MAX) return settle(false)
      lastTicket += 1
      unconfirmed.set(lastTicket, { deadline: plus(clock.now(), CONFIRMED_WITHIN_MS), settle })
      try {
        send(toMessage(event, messageId), lastTicket)
      } catch {
        answer(lastTicket, false)
      }
    })

  const answer = (ticket: number, stored: boolean): void => {
    const waiting = unconfirmed.get(ticket)
    if (waiting === undefined) return
    unconfirmed.delete(ticket)
    waiting.settle(stored)
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
    room: () => (send === undefined ? 0 : UNCONFIRMED_MAX - unconfirmed.size),
    onUp: (handler) => {
      upHandler = handler
    },
  }
  return { publisher, attach, detach, answer }
}
