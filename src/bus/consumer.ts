/**
 * The durable JetStream consumer: pulls messages and returns them in batches.
 *
 * Does not own: the connection (bus/nats), the content of a message (bus/event_message).
 *
 * - At most two batches are buffered; a slow reader leaves its messages in the stream.
 * - One pull request is open at a time. One that does not end in time is replaced.
 * - A message can be acknowledged only over the connection it arrived on: after the stream was
 *   lost and recreated, its sequence numbers belong to other messages. Messages dropped with a
 *   connection are redelivered.
 */
import { SECOND } from '../base/clock.js'
import type { ReceivedMessage } from './event_message.js'

/** Messages; each has up to 16 events, and the reader commits one batch at a time. */
const BATCH_MAX = 64
/** Messages that the bus delivers to all readers together without an acknowledgement. */
export const ACK_PENDING_MAX = 4_096
const PULL_EXPIRES_MS = 10 * SECOND
/** A pull without an end by then is lost (half-open connection, stopped server). */
const PULL_LOST_AFTER_MS = PULL_EXPIRES_MS + 5 * SECOND
const AGAIN_AFTER_MS = 250

export interface BusMessage extends ReceivedMessage {
  /** Its events may have been published, or the message delivered, before. */
  isRepeated(): boolean
  /** Acknowledges the message. Without effect once its connection is closed. */
  ack(): void
}

export interface Consumer {
  /**
   * Waits for messages and returns all buffered ones. An empty list means that the consumer is
   * closed.
   */
  next(): Promise<readonly BusMessage[]>
  /** Stops pulling. Returned messages can still be acknowledged. */
  close(): void
}

export interface PullRequest {
  readonly batch: number
  readonly expiresMs: number
  /** The messages of a pull arrive with its number. */
  readonly number: number
}

export interface ConsumerEnd {
  readonly consumer: Consumer
  attach(pull: (request: PullRequest) => void): void
  detach(): void
  deliver(message: BusMessage): void
  /** A pull ended before all of its messages arrived. */
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
    // One read of the socket brings many messages: the reader gets them together.
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
