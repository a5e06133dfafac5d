/**
 * Shards and partners that move between simulated processors, and injected faults that must be
 * found.
 */
import t from 'tap'
import { FAILED_MOVE_SEEDS, FAILED_RESTORED_MOVE_SEEDS } from './failed_seeds.js'
import { COPY_FAULTS, MOVE_FAULTS, ORPHAN_FAULTS } from './moves/faults.js'
import { simulateMoves } from './moves/simulation.js'

const FIRST = 20_261_120
const SEEDS = Array.from({ length: 6 }, (_, index) => FIRST + index)
/** In the last ones an owner is killed at each point of a partner's move. */
const UNRESTORED_SEEDS = [...SEEDS, ...FAILED_MOVE_SEEDS, FIRST + 7, FIRST + 26]
/** In the last one a crash interrupts a release. */
const RESTORED_SEEDS = [...SEEDS, ...FAILED_RESTORED_MOVE_SEEDS, 83]
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
  'partner moved',
  ...['held', 'ending', 'moved'].map((point) => `kill at partner_move.${point}`),
]

const REQUIRED_OF_RESTORES = [
  'moves',
  'ended: moved',
  'partner moved',
  ...['restored with a loss', 'one restored with a loss'],
  'ended: released',
  'released',
  'ended: refused',
  'released again',
  ...['rail: accepted', 'orphan added', 'left to another shard', 'orphan matched'],
  ...['orphan dismissed', 'held payout approved', 'held payout rejected'],
]

/** In these an owner is killed, paused or cut off at steps of a copy. */
const COPY_SEEDS = [50_002, 50_014, 50_019, 50_023]
const REQUIRED_OF_COPIES = [
  ...['copies', 'keeps', 'partner moved'],
  ...['step', 'ready', 'put_back', 'settled', 'undone'].map((point) => `partner_copy.${point}`),
  ...['kill at partner_copy.step', 'store at partner_copy.step', 'pause at partner_copy.put_back'],
]

t.setTimeout(0)

for (const restores of [false, true]) {
  const which = restores ? ' of clusters that go back to copies' : ''
  t.test(`fixed seeds${which} pass`, async (t) => {
    const total = new Map<string, number>()
    for (const seed of restores ? RESTORED_SEEDS : UNRESTORED_SEEDS) {
      const counts = await simulateMoves({ seed, steps: STEPS, restores, copies: false })
      for (const [what, times] of counts) total.set(what, (total.get(what) ?? 0) + times)
    }
    for (const what of restores ? REQUIRED_OF_RESTORES : REQUIRED)
      t.ok((total.get(what) ?? 0) > 0, what)
  })
}

t.test('fixed seeds pass whose rows of partners are set apart first', async (t) => {
  const total = new Map<string, number>()
  for (const seed of COPY_SEEDS) {
    const counts = await simulateMoves({ seed, steps: STEPS, copies: true, restores: false })
    for (const [what, times] of counts) total.set(what, (total.get(what) ?? 0) + times)
  }
  for (const what of REQUIRED_OF_COPIES) t.ok((total.get(what) ?? 0) > 0, what)
})

t.test('a seed is the same run again', async (t) => {
  const run = (): ReturnType<typeof simulateMoves> =>
    simulateMoves({ seed: FIRST, steps: STEPS, copies: true, restores: true })
  t.same([...(await run())], [...(await run())])
})

for (const fault of [...MOVE_FAULTS, ...COPY_FAULTS, ...ORPHAN_FAULTS]) {
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
