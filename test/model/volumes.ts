/**
 * Many test cases in several worlds in parallel: while one waits for the disk, another decides.
 *
 * - A world is replaced after about a hundred cases, because what a restart reads grows with them.
 */
import type { Test } from 'tap'
import { checkRuns } from './model_based.js'
import { openSharedWorld } from './shared_world.js'

const SIDE_BY_SIDE = 4
const RUNS_PER_WORLD = 100

export interface VolumesOptions {
  readonly runs: number
  /** Actors are rebuilt from SQLite before every batch. */
  readonly rebuilt: boolean
  /** The seed of the first world; each further world adds 1. Random when absent. */
  readonly seed?: number
  /** Milliseconds after which no further case begins. */
  readonly within?: number
}

export function tellVolumes(t: Test, { runs, rebuilt, seed, within }: VolumesOptions): void {
  t.jobs = SIDE_BY_SIDE
  t.setTimeout(0) // shrinking a failure takes long
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
