/**
 * Work that is done once a day, the first time an hour after the start.
 *
 * - It erases by age, so it does not begin within an hour of a step of the clock either
 *   (base/steady_clock).
 * - A run that ended early, because the books are read-only, begins again within an hour.
 */
import { DAY, HOUR, plus, SECOND, type Clock } from '../../base/clock.js'
import { createPeriodicWork } from '../../base/periodic_work.js'
import type { SteadyClock } from '../../base/steady_clock.js'

export interface DailyWork {
  start(): void
  stop(): Promise<void>
  /** Does all that is due now. @returns false when it ended early: the books are read-only */
  run(): Promise<boolean>
}

export interface DailyWorkOptions {
  readonly clock: Clock
  readonly isSteady: SteadyClock['isSteady']
  /** False means that `start` does nothing. */
  readonly isOn: boolean
  readonly run: DailyWork['run']
  /** Aborted by `stop`. */
  readonly stopped: AbortController
  readonly onError: (error: unknown) => void
}

export function createDailyWork(options: DailyWorkOptions): DailyWork {
  const { clock, isSteady, isOn, run, stopped, onError } = options
  let nextAt = 0

  const runDue = async (): Promise<void> => {
    if (!isSteady() || clock.now() < nextAt) return
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
