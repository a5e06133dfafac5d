/** Shards that move between simulated processors, and injected faults that must be found. */
import t from 'tap'
import { MOVE_FAULTS } from './moves/faults.js'
import { simulateMoves } from './moves/simulation.js'

const FIRST = 20_261_120
const SEEDS = 6
const STEPS = 3_000
const SEEDS_MAX = 20

const REQUIRED = [
  'moves',
  'ended: moved',
  'ended: killed',
  'pause',
  'store',
  'gateways',
  'answer ok',
]

t.test('fixed seeds pass', async (t) => {
  const total = new Map<string, number>()
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const counts = await simulateMoves({ seed, steps: STEPS })
    for (const [what, times] of counts) total.set(what, (total.get(what) ?? 0) + times)
  }
  for (const what of REQUIRED) t.ok((total.get(what) ?? 0) > 0, what)
})

for (const fault of MOVE_FAULTS) {
  t.test(fault.name, async (t) => {
    let found: Error | undefined
    let seed = fault.firstSeed
    for (; found === undefined && seed < fault.firstSeed + SEEDS_MAX; seed++)
      await simulateMoves({ seed, steps: STEPS, fault }).catch(
        (error: unknown) => (found = error as Error),
      )
    t.match(found, { message: fault.finding })
    t.comment(`seed ${seed - 1}: ${found?.message}`)
  })
}
