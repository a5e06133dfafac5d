/**
 * The subscribers of a directory stream: each gets the full directory, then every change.
 *
 * - Between two messages of the full directory other work runs: it can be tens of thousands of
 *   entries.
 * - A change during that transfer is sent after its last message.
 */
/** A stream of gRPC. */
interface UpdateStream<Update> {
  write(update: Update): unknown
  end(): unknown
  destroy(error: Error): unknown
  on(event: 'cancelled' | 'error' | 'close', listener: () => void): unknown
}

interface Watcher<Update> {
  readonly stream: UpdateStream<Update>
  /** Changes during the transfer. Null if it is complete. */
  held: (() => Update)[] | null
}

export interface DirectoryWatchers<Update> {
  /** @param full the messages of the full directory; each is made when it is sent */
  add(stream: UpdateStream<Update>, full: Iterable<Update>): void
  /** Sends a change to all. @param make called when it is sent, so it is never of an older state */
  send(make: () => Update): void
  /** Ends all streams. */
  end(): void
}

export function createDirectoryWatchers<Update>(
  yieldToEventLoop: () => Promise<void>,
): DirectoryWatchers<Update> {
  const watchers = new Set<Watcher<Update>>()

  const transfer = async (watcher: Watcher<Update>, full: Iterable<Update>): Promise<void> => {
    for (const update of full) {
      watcher.stream.write(update)
      await yieldToEventLoop()
      if (!watchers.has(watcher)) return
    }
    for (const make of watcher.held ?? []) watcher.stream.write(make())
    watcher.held = null
  }

  return {
    add: (stream, full) => {
      const watcher: Watcher<Update> = { stream, held: [] }
      watchers.add(watcher)
      const leave = (): void => void watchers.delete(watcher)
      stream.on('cancelled', leave)
      stream.on('error', leave)
      stream.on('close', leave)
      transfer(watcher, full).catch((error: unknown) => stream.destroy(error as Error))
    },
    send: (make) => {
      for (const { stream, held } of watchers) {
        if (held === null) stream.write(make())
        else held.push(make)
      }
    },
    end: () => {
      for (const { stream } of watchers) stream.end()
      watchers.clear()
    },
  }
}
