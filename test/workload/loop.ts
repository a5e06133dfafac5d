/** Repeats a client's turn until it is stopped. */
import { systemPause } from '../../src/base/clock.js'

/** @param turn counts from 1 */
export function startLoop(turn: (number: number) => Promise<unknown>, pauseMs = 0) {
  let isStopping = false
  const run = (async () => {
    for (let number = 1; !isStopping; number++) {
      await turn(number)
      if (pauseMs > 0) await systemPause(pauseMs)
    }
  })()
  return {
    isStopping: () => isStopping,
    /** Resolves when the turn in progress has ended. */
    stop: async () => {
      isStopping = true
      await run
    },
  }
}
