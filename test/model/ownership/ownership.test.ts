/** The model of ownership holds, planted faults break it, and the real code does what it does. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createSeededRandom } from '../../fuzz/seeded_random.js'
import { noPostgres, startPostgres } from '../../support/postgres_server.js'
import { tempFolder } from '../../support/temp_folder.js'
import { checkModel, testRuns } from './quint.js'
import { openRealOwners } from './real_owners.js'
import { recordTrace, replayFile } from './replay.js'

const SAMPLES = 20
const STEPS = 60
const TRACES = 4
const TRACE_STEPS = 60
/** With seeds whose first trace finds them. `make ownership-model` has more faults. */
const FAULTS = [
  { module: 'no_fence', seed: '0x12d6bed297a797' },
  { module: 'no_epoch_in_commits', seed: '0x57b488bf717e7' },
] as const
const FAULT_SAMPLES = 2_000
const SEED = 20_261_126
/** Each occurs in the traces. */
const OUTCOMES = [
  ...['taken', 'by another', 'done', 'fenced', 'acknowledged', 'deposed', 'released', 'raised'],
  ...['here', 'elsewhere', 'repeated', 'found', 'not found', 'published', 'requested', 'refused'],
  ...['expired', 'moved', 'not now', 'ended'],
]

t.setTimeout(0)

t.test('the model is safe', async (t) => {
  const { isSafe, output } = await checkModel({ module: 'correct', samples: SAMPLES, steps: STEPS })
  t.ok(isSafe, output)
})

for (const { module, seed } of FAULTS)
  t.test(`a fault is found: ${module}`, async (t) => {
    const { isSafe } = await checkModel({ module, seed, samples: FAULT_SAMPLES, steps: STEPS })
    t.notOk(isSafe)
  })

t.test('random traces of the real code', { skip: noPostgres }, async (t) => {
  const { url } = await startPostgres(t, { fsync: 'off' })
  const real = await openRealOwners(url)
  t.teardown(() => real.close())
  const traces = new Map<string, readonly string[]>()
  const outcomes = new Set<string>()
  for (let trace = 0; trace < TRACES; trace++) {
    const recorded = await recordTrace(real, createSeededRandom(SEED, trace), TRACE_STEPS)
    traces.set(`trace${trace}`, recorded.steps)
    for (const outcome of recorded.outcomes) outcomes.add(outcome)
  }
  const missing = OUTCOMES.filter((outcome) => !outcomes.has(outcome))
  t.strictSame(missing, [], 'each outcome occurs')

  const wrong = [...traces.get('trace0')!]
  const index = wrong.findLastIndex((step) => step.includes('is("done"'))
  wrong[index] = wrong[index]!.replace('is("done"', 'is("fenced"')
  traces.set('trace_wrong', wrong)
  const file = join(tempFolder(t), 'replay.qnt')
  writeFileSync(file, replayFile(traces))
  const output = await testRuns(file)
  for (let trace = 0; trace < TRACES; trace++)
    t.match(output, `ok trace${trace} passed`, `trace ${trace} is one of the model`)
  t.match(output, 'trace_wrong failed', 'a trace with another outcome is not')
  t.comment(
    output
      .split('\n')
      .slice(0, TRACES + 6)
      .join('\n'),
  )
})
