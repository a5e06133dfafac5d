/**
 * How much a step of a large move takes: as much as was done in STEP_MS, so that no commit waits
 * long for its locks, on a busy server as on a quiet one.
 *
 * - Rows of one table take about the same time, so each table begins with little.
 * - The sizes are few: each is a statement of its own, which the server keeps prepared until the
 *   end of the session.
 */

/** A commit that changes a row of the step waits for its end. */
const STEP_MS = 60
const MIN = 0.1
const MAX = 16
/** One quick step is no measure. */
const GROWTH_MAX = 2

export interface StepScale {
  /** For the next step. 1 in a table that no step has taken from. */
  of(table: string): number
  took(milliseconds: number): void
}

export function createStepScale(): StepScale {
  let [table, scale] = ['', 1]
  return {
    of: (next) => {
      if (next !== table) [table, scale] = [next, 1]
      return 2 ** (Math.floor(2 * Math.log2(scale)) / 2)
    },
    took: (milliseconds) => {
      const factor = Math.min(GROWTH_MAX, STEP_MS / Math.max(1, milliseconds))
      scale = Math.min(MAX, Math.max(MIN, scale * factor))
    },
  }
}
