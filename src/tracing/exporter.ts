/**
 * Sends spans to a collector, in the background.
 *
 * - Nothing waits for it: spans beyond the queue's bound are dropped and counted, and so are those
 *   that the collector does not take. None is sent twice.
 * - One request is under way at a time.
 */
import { SECOND } from '../base/clock.js'
import type { Logger } from '../base/log.js'
import type { Span } from './span.js'

export const QUEUE_MAX = 4_096
const BATCH_MAX = 512
const SEND_EVERY_MS = SECOND
const ANSWERED_WITHIN_MS = 5 * SECOND
const STOPPED_WITHIN_MS = SECOND

export type DropReason = 'queue_full' | 'not_taken'

export interface ExporterOptions {
  /** Sends the request. Rejects when the collector did not take it. */
  readonly post: (spans: readonly Span[], withinMs: number) => Promise<void>
  readonly dropped: (count: number, reason: DropReason) => void
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export interface Exporter {
  add(span: Span): void
  /** Sends what waits, for at most a second. */
  stop(): Promise<void>
}

export function createExporter({ post, dropped, log }: ExporterOptions): Exporter {
  let waiting: Span[] = []
  let sending: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isFailing = false

  const add = (span: Span): void => {
    if (waiting.length >= QUEUE_MAX) return dropped(1, 'queue_full')
    waiting.push(span)
    if (waiting.length >= BATCH_MAX) send()
    else if (timer === undefined) timer = setTimeout(send, SEND_EVERY_MS).unref()
  }

  const send = (): void => {
    if (sending !== undefined) return
    clearTimeout(timer)
    timer = undefined
    sending = sendBatch(ANSWERED_WITHIN_MS).then(() => {
      sending = undefined
      if (waiting.length >= BATCH_MAX) send()
      else if (waiting.length > 0) timer ??= setTimeout(send, SEND_EVERY_MS).unref()
    })
  }

  const sendBatch = async (withinMs: number): Promise<void> => {
    const batch = waiting.slice(0, BATCH_MAX)
    waiting = waiting.slice(BATCH_MAX)
    try {
      await post(batch, withinMs)
      if (isFailing) log.info('the collector takes spans again')
      isFailing = false
    } catch (error) {
      dropped(batch.length, 'not_taken')
      if (!isFailing) log.warn({ error }, 'the collector does not take spans; they are dropped')
      isFailing = true
    }
  }

  const stop = async (): Promise<void> => {
    clearTimeout(timer)
    const rest = (async () => {
      await sending
      while (waiting.length > 0) await sendBatch(STOPPED_WITHIN_MS)
    })()
    let limit: NodeJS.Timeout | undefined
    await Promise.race([
      rest,
      new Promise<void>((resolve) => {
        limit = setTimeout(resolve, STOPPED_WITHIN_MS)
      }),
    ])
    clearTimeout(limit)
  }

  return { add, stop }
}
