/**
 * Test cases in several parallel worlds: while one waits for the disk, another one runs.
 *
 * - A world is replaced after about 100 cases, because a restart reads all its data.
 */
import type { Test } from 'tap'
import { checkRuns, type ModelRunOptions } from './model_based.js'
import { openSharedWorld } from './shared_world.js'

const WORLDS_AT_ONCE = 4
const RUNS_PER_WORLD = 100

/** The seed is that of the first world; each further world adds 1. */
export function runWorlds(t: Test, { runs, rebuilt, seed, within }: ModelRunOptions): void {
  t.jobs = WORLDS_AT_ONCE
  t.setTimeout(0) // shrinking a failure takes long
  const rounds = Math.ceil(runs / RUNS_PER_WORLD / WORLDS_AT_ONCE)
  const count = rounds * WORLDS_AT_ONCE
  for (let number = 0; number < count; number++) {
    t.test(`world ${number + 1}`, { buffered: true, timeout: 0 }, async (t) => {
      const shared = await openSharedWorld(t)
      const cases = await checkRuns(shared, {
        rebuilt,
        runs: Math.ceil(runs / count),
        seed: seed === undefined ? undefined : seed + number,
        within: within === undefined ? undefined : within / rounds,
      })
      t.pass(`${cases} cases`)
    })
  }
}
