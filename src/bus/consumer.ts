/**
 * The durable consumer, as something to pull batches from.
 *
 * Owns: pull requests, the few messages that wait for their reader, acknowledging. Does not own:
 * the connection (bus/nats), what a message means (bus/event_message).
 *
 * - Two batches at most wait for the reader; a slow reader leaves its messages in the stream.
 * - One pull is open at a time, and one that has not ended in time is given up for a new one.
 * - A message can be acknowledged only over the link it came by: after the stream was lost and
 *   made anew, the same numbers name other messages. What is dropped with a link comes again.
 */
import { SECOND } from '../base/clock.js'
import type { ReceivedMessage } from './event_message.js'

/** Messages; each has up to sixteen events, and a reader commits a batch at a time. */
const BATCH_MAX = 64
const PULL_EXPIRES_MS = 10 * SECOND
/**
 * Beyond its expiry, a pull whose end did not come is lost (half-open connection, server stopped).
 */
const PULL_LOST_AFTER_MS = PULL_EXPIRES_MS + 5 * SECOND
const AGAIN_AFTER_MS = 250

export interface BusMessage extends ReceivedMessage {
  /**
   * Tells the stream that this message needs no further delivery. Without effect once its link is
   * gone.
   */
  ack(): void
}

export interface Consumer {
  /**
   * Waits for messages and takes all that are there, `BATCH_MAX` at most; none at all: it is
   * closed.
   */
  next(): Promise<readonly BusMessage[]>
  /** Takes nothing more. What was taken can still be acknowledged. */
  close(): void
}

export interface PullRequest {
  readonly batch: number
  readonly expiresMs: number
  /** The answers of a pull come back with its number. */
  readonly number: number
}

export interface ConsumerEnd {
  readonly consumer: Consumer
  attach(pull: (request: PullRequest) => void): void
  detach(): void
  deliver(message: BusMessage): void
  /** A pull ended without (all of) its messages. */
  ended(number: number, how: 'expired' | 'failed'): void
}

export function createConsumer(): ConsumerEnd {
  let waiting: BusMessage[] = []
  let pull: ((request: PullRequest) => void) | undefined
  let pullNumber = 0
  /** Messages that the open pull may still bring. */
  let expected = 0
  let timer: NodeJS.Timeout | undefined
  let reader: ((messages: readonly BusMessage[]) => void) | undefined
  let wanted = false
  let closed = false

  const next = (): Promise<readonly BusMessage[]> =>
    new Promise((resolve) => {
      reader = resolve
      wanted = true
      deliverBatch()
      pullMore()
    })

  const deliverBatch = (): void => {
    if (reader === undefined || (waiting.length === 0 && !closed)) return
    const resolve = reader
    const messages = waiting
    reader = undefined
    waiting = []
    resolve(messages)
  }

  const pullMore = (): void => {
    if (pull === undefined || !wanted || expected > 0 || waiting.length > BATCH_MAX) return
    pullNumber += 1
    expected = BATCH_MAX
    clearTimeout(timer)
    const number = pullNumber
    timer = setTimeout(() => ended(number, 'failed'), PULL_LOST_AFTER_MS)
    pull({ batch: BATCH_MAX, expiresMs: PULL_EXPIRES_MS, number })
  }

  const deliver = (message: BusMessage): void => {
    if (pull === undefined) return
    waiting.push(message)
    expected = Math.max(0, expected - 1)
    // Messages come many to a read of the socket: the reader takes them together.
    if (waiting.length === 1) setImmediate(deliverBatch)
    pullMore()
  }

  const ended = (number: number, how: 'expired' | 'failed'): void => {
    if (number !== pullNumber || pull === undefined) return
    expected = 0
    clearTimeout(timer)
    if (how === 'expired') pullMore()
    else timer = setTimeout(pullMore, AGAIN_AFTER_MS)
  }

  const attach = (link: (request: PullRequest) => void): void => {
    if (closed) return
    pull = link
    pullMore()
  }

  const detach = (): void => {
    pull = undefined
    expected = 0
    waiting = []
    clearTimeout(timer)
  }

  const close = (): void => {
    detach()
    closed = true
    deliverBatch()
  }

  return { consumer: { next, close }, attach, detach, deliver, ended }
}
