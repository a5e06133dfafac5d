/**
 * Work that is repeated at intervals: the next run starts an interval after the last one has ended.
 */
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
): PeriodicWork {
  let isRunning = false
  let timer: NodeJS.Timeout | undefined
  let current: Promise<void> = Promise.resolve()

  const runLater = (): void => {
    timer = setTimeout(() => {
      current = run()
        .catch(onFault)
        .then(() => {
          if (isRunning) runLater()
        })
    }, everyMs)
  }

  return {
    start: () => {
      isRunning = true
      runLater()
    },
    stop: () => {
      isRunning = false
      clearTimeout(timer)
      return current
    },
  }
}
