/** Stops the processes of a run, and prints each one that has ended. */
import { SECOND, type Pause } from '../base/clock.js'
import type { StackRun } from './pid_file.js'
import { StartupError } from './startup_error.js'

const POLL_INTERVAL_MS = 100
/** A supervisor kills a process that does not stop within ten seconds. */
const PROGRESS_WITHIN_MS = 60 * SECOND

export interface StopOptions {
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: Pause
  readonly print: (line: string) => void
}

/** @throws StartupError when no further process has ended for a minute */
export async function stopRun(
  run: StackRun,
  { elapsed, pause, print }: StopOptions,
): Promise<void> {
  let running = run.running()
  run.requestStop()
  const since = elapsed()
  let progressAt = since
  const seconds = (): string => ((elapsed() - since) / SECOND).toFixed(1)
  while (running.length > 0) {
    if (elapsed() - progressAt > PROGRESS_WITHIN_MS) {
      throw new StartupError(`After ${seconds()} s these still run: ${running.join(', ')}.`)
    }
    await pause(POLL_INTERVAL_MS)
    const now = run.running()
    for (const name of running.filter((each) => !now.includes(each))) {
      print(`  ${name} ended after ${seconds()} s`)
      progressAt = elapsed()
    }
    running = now
  }
  print('stopped')
}
