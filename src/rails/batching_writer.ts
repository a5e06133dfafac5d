/**
 * Writes many small items to a stream in few messages, with back-pressure and a bounded buffer.
 *
 * Does not own: the stream. When it ends, `close` discards the buffered items.
 *
 * - Items of one iteration of the event loop share messages of at most STREAM_BATCH_MAX; order is
 *   kept.
 * - The buffer holds at most `bound` items; `push` returns how many it rejected.
 */
import { STREAM_BATCH_MAX } from '../base/constants.js'

export interface BatchingWriter<Item> {
  /** Buffers as many items as fit. @returns how many of the last ones were rejected */
  push(items: readonly Item[]): number
  /** Items not written to the stream yet. */
  waiting(): number
  /** Resolves when the buffer is empty or the writer is closed. */
  empty(): Promise<void>
  close(): void
}

/** The part of a gRPC stream that the writer uses. */
export interface Sink<Message> {
  /** False means that it takes no more until `drain`. */
  write(message: Message): boolean
  on(event: 'drain', listener: () => void): unknown
}

export interface BatchingWriterOptions<Item, Message> {
  readonly sink: Sink<Message>
  readonly pack: (items: readonly Item[]) => Message
  readonly bound: number
}

export function createBatchingWriter<Item, Message>(
  options: BatchingWriterOptions<Item, Message>,
): BatchingWriter<Item> {
  const { sink, pack, bound } = options
  let queue: Item[] = []
  let flushing: NodeJS.Immediate | undefined
  let congested = false
  let closed = false
  const watchers: (() => void)[] = []

  sink.on('drain', () => {
    congested = false
    flush()
  })
  return { push, waiting: () => queue.length, empty, close }

  function push(items: readonly Item[]): number {
    const capacity = closed ? 0 : Math.max(0, bound - queue.length)
    const taken = items.length > capacity ? items.slice(0, capacity) : items
    for (const item of taken) queue.push(item)
    if (queue.length > 0) flushing ??= setImmediate(flush)
    return items.length - taken.length
  }

  function flush(): void {
    clearImmediate(flushing)
    flushing = undefined
    let sent = 0
    while (!congested && sent < queue.length) {
      const items = queue.slice(sent, sent + STREAM_BATCH_MAX)
      sent += items.length
      congested = !sink.write(pack(items))
    }
    queue = queue.slice(sent)
    if (queue.length === 0) notifyWatchers()
  }

  function empty(): Promise<void> {
    if (queue.length === 0) return Promise.resolve()
    return new Promise((resolve) => watchers.push(resolve))
  }

  function notifyWatchers(): void {
    for (const resolve of watchers.splice(0)) resolve()
  }

  function close(): void {
    closed = true
    clearImmediate(flushing)
    queue = []
    notifyWatchers()
  }
}
