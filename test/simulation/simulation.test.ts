/**
 * Fixed seeds of the simulation; `make sim` runs others. Even seeds have one processor, odd ones
 * two over the same books.
 *
 * Together they must cover every kind of fault.
 */
import t from 'tap'
import { FAILED_SEEDS } from './failed_seeds.js'
import { simulateSeeds, simulateSeed } from './seeds.js'
import { shrink } from './shrink.js'
import { RATES } from './swarm.js'

const FIRST = 20_261_291
const RUNS = 10
const STEPS = 1_000

const REQUIRED = [
  'commit failed, kept',
  'commit failed, lost',
  'killed with calls in flight',
  'stopped by a failed commit',
  'rail down',
  'bus down',
  'bus wiped',
  'rail back',
  'revoked key',
  'leap',
  'nonce reused',
  'reports: not_found',
  'reports: executed',
  'reports: refused',
  'reports: returned',
  'instruction: recall',
  'accepted: create_beneficiary',
  'accepted: disable_beneficiary',
  'accepted: create_fx_quote',
  'accepted: create_fx_conversion',
  'accepted: deposit',
  'accepted: approve_request',
  'accepted: reject_request',
  'accepted: resolve_discrepancy',
  'accepted: issue_key',
  'accepted: revoke_key',
  'accepted: pause_submissions',
  'accepted: change_partner',
  'failover',
  'ended: released',
  'ended: deposed',
  'taken over from a living owner',
  'write repeated',
  'write unanswered',
]

const REQUIRED_OF_RESTORES = [
  'restored with a loss',
  'restored without instructions',
  'orphans recorded',
  'not released: statement_refused',
  'released',
  'orphan matched',
  'orphan dismissed: executed',
  'held payment approved',
  'held payment rejected',
]
const RESTORED = [
  { owners: 1, first: 20_261_346, runs: 10, more: 'orphan dismissed: accepted' },
  { owners: 2, first: 20_261_374, runs: 6, more: 'ended: released the recovery' },
] as const

t.setTimeout(0)

t.test('fixed seeds pass and cover every fault', async (t) => {
  const lines: string[] = []
  const counts = await simulateSeeds({
    first: FIRST,
    runs: RUNS,
    steps: STEPS,
    without: ['restore'],
    onLine: (line) => void lines.push(line),
  })
  t.not(counts, null, lines.join('\n'))
  for (const what of REQUIRED) t.ok((counts?.get(what) ?? 0) > 0, what)
})

for (const { more, ...restored } of RESTORED) {
  const what = `books of ${restored.owners} owners that are set back to copies are released`
  t.test(`${what}, and nothing is paid twice`, async (t) => {
    const lines: string[] = []
    const counts = await simulateSeeds({
      ...restored,
      steps: STEPS,
      restores: true,
      onLine: (line) => void lines.push(line),
    })
    t.not(counts, null, lines.join('\n'))
    for (const what of [...REQUIRED_OF_RESTORES, more]) t.ok((counts?.get(what) ?? 0) > 0, what)
  })
}

t.test('seeds that failed once pass', async (t) => {
  for (const { seed, ...run } of FAILED_SEEDS) {
    const lines: string[] = []
    const onLine = (line: string): void => void lines.push(line)
    t.not(await simulateSeeds({ first: seed, runs: 1, ...run, onLine }), null, lines.join('\n'))
  }
})

t.test('a failing run is shrunk to the steps and faults that it needs', async (t) => {
  const shortest = await shrink({ steps: STEPS, without: [] }, ({ steps, without }) =>
    Promise.resolve(steps >= 37 && !without.includes('leap')),
  )
  t.equal(shortest.steps, 37)
  t.notOk(shortest.without.includes('leap'))
  t.equal(shortest.without.length, RATES.length - 1, 'no other kind of fault')
})

for (const [owners, restores] of [
  [1, false],
  [1, true],
  [2, false],
  [2, true],
] as const) {
  const what = `with ${owners} owners${restores ? ' and restores' : ''}`
  t.test(`a seed is the same run again and by both drivers, ${what}`, async (t) => {
    const traces: string[][] = []
    for (const books of ['memory', 'memory', 'disk'] as const) {
      const lines: string[] = []
      const onLine = (line: string): void => void lines.push(line)
      await simulateSeed(FIRST, STEPS, onLine, { owners, restores, books })
      traces.push(lines)
    }
    const [first = [], ...others] = traces
    t.ok(first.length > 0.9 * STEPS) // some steps have no line
    for (const other of others) {
      const differs = first.findIndex((line, index) => line !== other[index])
      t.equal(differs, -1, `line ${differs}: ${first[differs]} / ${other[differs]}`)
      t.equal(other.length, first.length)
    }
  })
}
