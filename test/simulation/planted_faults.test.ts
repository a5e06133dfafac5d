/**
 * The simulation of two processors finds each injected fault.
 *
 * A fault has the first seed to try; code changes may move it to a later seed.
 */
import t from 'tap'
import { PLANTED_FAULTS } from './planted_faults.js'
import { simulateSeed } from './seeds.js'

const SEEDS_MAX = 60
const STEPS = 1_000

t.setTimeout(0)

for (const fault of PLANTED_FAULTS) {
  t.test(fault.name, async (t) => {
    let found: Error | undefined
    let seed = fault.firstSeed
    for (; found === undefined && seed < fault.firstSeed + SEEDS_MAX; seed++) {
      await simulateSeed(seed, STEPS, () => undefined, { owners: 2, fault }).catch(
        (error: unknown) => (found = error as Error),
      )
    }
    t.match(found, { message: fault.finding })
    t.comment(`seed ${seed - 1}: ${found?.message}`)
  })
}
