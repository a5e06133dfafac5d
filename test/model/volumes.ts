/**
 * Many lives in several worlds side by side: while one world waits for its disk another decides.
 *
 * - A world is left after a hundred lives or so: what it reads at a restart grows with them.
 */
import type { Test } from 'tap'
import { checkRuns } from './model_based.js'
import { openSharedWorld } from './shared_world.js'

const SIDE_BY_SIDE = 4
const RUNS_PER_WORLD = 100

export interface VolumesOptions {
  readonly runs: number
  /** Actors are rebuilt from SQLite before every group. */
  readonly rebuilt: boolean
  /** Of the first world; the next one has the next. Drawn when absent. */
  readonly seed?: number
  /** Milliseconds after which no further life begins; a slow machine tells fewer. */
  readonly within?: number
}

export function tellVolumes(t: Test, { runs, rebuilt, seed, within }: VolumesOptions): void {
  t.jobs = SIDE_BY_SIDE
  t.setTimeout(0) // a failure takes its time to be made short
  const rounds = Math.ceil(runs / RUNS_PER_WORLD / SIDE_BY_SIDE)
  const count = rounds * SIDE_BY_SIDE
  for (let number = 0; number < count; number++) {
    void t.test(`world ${number + 1}`, { buffered: true, timeout: 0 }, async (t) => {
      const shared = await openSharedWorld(t)
      const told = await checkRuns(shared, {
        rebuilt,
        runs: Math.ceil(runs / count),
        seed: seed === undefined ? undefined : seed + number,
        within: within === undefined ? undefined : within / rounds,
      })
      t.pass(`${told} lives`)
    })
  }
}
