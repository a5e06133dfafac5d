/**
 * Many small things into few messages of one stream.
 *
 * Owns: gathering within a turn of the event loop, the wait for a slow reader, the bound. Does not
 * own: the stream's life; when the stream ends its pipe is closed and what waits is gone.
 *
 * - Order is kept. A message holds at most STREAM_BATCH_MAX items.
 * - At most `bound` items wait; `push` says how many found no room.
 */
import { STREAM_BATCH_MAX } from '../base/constants.js'

export interface BatchingWriter<Item> {
  /** Takes what there is room for, and answers how many items of the end were left out. */
  push(items: readonly Item[]): number
  /** Items that have not reached the stream yet. */
  waiting(): number
  /** Resolves when none waits, or when the pipe is closed. */
  empty(): Promise<void>
  close(): void
}

/** The part of a gRPC stream that a pipe uses. */
export interface Sink<Message> {
  /** False: no more until `drain`. */
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
  let watchers: (() => void)[] = []

  sink.on('drain', () => {
    congested = false
    flush()
  })
  return { push, waiting: () => queue.length, empty, close }

  function push(items: readonly Item[]): number {
    const room = closed ? 0 : Math.max(0, bound - queue.length)
    const taken = items.length > room ? items.slice(0, room) : items
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
    const told = watchers
    watchers = []
    for (const tell of told) tell()
  }

  function close(): void {
    closed = true
    clearImmediate(flushing)
    queue = []
    notifyWatchers()
  }
}
