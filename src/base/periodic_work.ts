/**
 * Work that is repeated at intervals: the next run starts an interval after the last one has ended.
 */
import { systemPause, type Pause } from './clock.js'

export interface PeriodicWork {
  start(): void
  /** Resolves when no run is under way. */
  stop(): Promise<void>
}

/** @param onFault gets what a run throws; the runs go on */
export function createPeriodicWork(
  everyMs: number,
  run: () => Promise<void>,
  onFault: (error: unknown) => void,
  pause: Pause = systemPause,
): PeriodicWork {
  const stopped = new AbortController()
  let runs: Promise<void> = Promise.resolve()

  const repeat = async (): Promise<void> => {
    for (;;) {
      await pause(everyMs, stopped.signal)
      if (stopped.signal.aborted) return
      await run().catch(onFault)
    }
  }

  return {
    start: () => {
      runs = repeat()
    },
    stop: () => {
      stopped.abort()
      return runs
    },
  }
}
