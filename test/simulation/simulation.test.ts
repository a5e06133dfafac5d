/**
 * Some seeds of the simulation, always the same ones; `make sim` tries others.
 *
 * Together they must have met what the simulation is there for: a fault that never comes proves
 * nothing.
 */
import t from 'tap'
import { simulateSeeds, tellOne } from './seeds.js'

const FIRST = 20_261_121
const RUNS = 10
const STEPS = 1_000

const MUST_HAPPEN = [
  'commit failed, kept',
  'commit failed, lost',
  'killed with calls under way',
  'stopped by a failed commit',
  'rail down',
  'bus down',
  'leap',
  'nonce used again',
  'reports: not_found',
  'reports: executed',
  'reports: refused',
  'reports: returned',
  'order: recall',
  'granted: create_beneficiary',
  'granted: disable_beneficiary',
  'granted: create_fx_quote',
  'granted: create_fx_conversion',
]

t.test('fixed seeds hold', async (t) => {
  const lines: string[] = []
  const counts = await simulateSeeds({
    first: FIRST,
    runs: RUNS,
    steps: STEPS,
    tell: (line) => void lines.push(line),
  })
  t.not(counts, null, lines.join('\n'))
  for (const what of MUST_HAPPEN) t.ok((counts?.get(what) ?? 0) > 0, what)
})

t.test('a seed is the same run, step by step', async (t) => {
  const traces: string[][] = []
  for (let time = 0; time < 2; time++) {
    const lines: string[] = []
    await tellOne(FIRST, STEPS, (line) => void lines.push(line))
    traces.push(lines)
  }
  const [first = [], again = []] = traces
  const differs = first.findIndex((line, index) => line !== again[index])
  t.equal(differs, -1, `line ${differs}: ${first[differs]} / ${again[differs]}`)
  t.ok(first.length > STEPS)
  t.equal(again.length, first.length)
})
