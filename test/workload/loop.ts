/** Repeats a client's turn until it is stopped. */
import { systemPause } from '../../src/base/clock.js'

export interface Loop {
  isStopping(): boolean
  /** Resolves when the turn in progress has ended. */
  stop(): Promise<void>
}

/** @param turn counts from 1 */
export function startLoop(turn: (number: number) => Promise<unknown>, pauseMs = 0): Loop {
  let isStopping = false
  const run = (async () => {
    for (let number = 1; !isStopping; number++) {
      await turn(number)
      if (pauseMs > 0) await systemPause(pauseMs)
    }
  })()
  return {
    isStopping: () => isStopping,
    stop: async () => {
      isStopping = true
      await run
    },
  }
}
