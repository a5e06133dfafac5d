/**
 * Work that is done once a day, the first time a minute after the start.
 *
 * - A run that ended early, because the books are read-only, begins again within an hour.
 */
import { DAY, HOUR, MINUTE, plus, SECOND, type Clock } from '../../base/clock.js'
import { createPeriodicWork } from '../../base/periodic_work.js'

export interface DailyWork {
  start(): void
  stop(): Promise<void>
  /** Does all that is due now. @returns false when it ended early: the books are read-only */
  run(): Promise<boolean>
}

export interface DailyWorkOptions {
  readonly clock: Clock
  /** False: `start` does nothing. */
  readonly isOn: boolean
  readonly run: DailyWork['run']
  /** Aborted by `stop`. */
  readonly stopped: AbortController
  readonly onError: (error: unknown) => void
}

export function createDailyWork(options: DailyWorkOptions): DailyWork {
  const { clock, isOn, run, stopped, onError } = options
  let nextAt: number = plus(clock.now(), MINUTE)

  const runDue = async (): Promise<void> => {
    if (clock.now() < nextAt) return
    nextAt = plus(clock.now(), HOUR)
    if (await run()) nextAt = plus(clock.now(), DAY)
  }
  const looks = createPeriodicWork(SECOND, runDue, onError)

  return {
    start: () => {
      if (isOn) looks.start()
    },
    stop: () => {
      stopped.abort()
      return looks.stop()
    },
    run,
  }
}
