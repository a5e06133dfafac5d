/**
 * Fixed seeds of the simulation; `make sim` runs others.
 *
 * Together they must cover every kind of fault: a fault that never occurs proves nothing.
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

t.test('fixed seeds pass and cover every fault', async (t) => {
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

t.test('a seed repeats the same run', async (t) => {
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
