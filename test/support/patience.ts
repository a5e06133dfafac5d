/**
 * Deadlines for tests that wait: elapsed time counts in proportion to the CPU share of a process.
 *
 * - On a machine with more runnable processes than cores a second counts less, in proportion.
 * - A long gap between two polls counts at most one second, as the waiting process did not run.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const GAP_MAX_MS = 1_000
const CORES = availableParallelism()

export interface Patience {
  /** Counts the time since the last call. @returns whether the time is used up */
  isOver(): boolean
}

/** @param withinMs the deadline on an idle machine */
export function patience(withinMs: number): Patience {
  let used = 0
  let last = performance.now()
  return {
    isOver: () => {
      const now = performance.now()
      used += Math.min(now - last, GAP_MAX_MS) * machineShare()
      last = now
      return used > withinMs
    },
  }
}

/** From 0 to 1: cores for each runnable process of this machine, at most one. */
function machineShare(): number {
  try {
    const [, , , processes = ''] = readFileSync('/proc/loadavg', 'utf8').split(' ')
    return Math.min(1, CORES / Number.parseInt(processes, 10)) || 1
  } catch {
    return 1
  }
}
