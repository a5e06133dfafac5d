/**
 * Checks the model of ownership, sees that it finds each planted fault, and replays random traces
 * of the real code against it: `make ownership-model SAMPLES=20000 TRACES=200`.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOptions } from '../../../src/process/program_options.js'
import { createSeededRandom } from '../../fuzz/seeded_random.js'
import { noPostgres, startPostgres } from '../../support/postgres_server.js'
import { checkModel, MODEL_FAULTS, testRuns } from './quint.js'
import { openRealOwners } from './real_owners.js'
import { recordTrace, replayFile } from './replay.js'

/** How many one file has: Quint keeps all of them in memory. */
const TRACES_PER_FILE = 20
const TRACE_STEPS = 80

const { samples, steps, traces, seed } = programOptions(
  'ownership-model',
  'Checks the model of ownership, and the real code against it.',
  {
    samples: { value: 'N', about: 'traces of the model', kind: 'number', fallback: 5_000 },
    steps: { value: 'N', about: 'of each', kind: 'number', fallback: 60 },
    traces: { value: 'N', about: 'of the real code', kind: 'number', fallback: 40 },
    seed: { value: 'N', about: 'of the traces of the real code', kind: 'number' },
  },
)
const say = (line: string): void => console.log(line)
const fail = (line: string): void => {
  say(line)
  process.exitCode = 1
}

const { isSafe, output } = await checkModel({ module: 'correct', samples, steps })
if (isSafe) say(`the model is safe in ${samples} traces of ${steps} steps`)
else fail(output)
for (const { module, fault } of MODEL_FAULTS) {
  const { isSafe: isMissed } = await checkModel({ module, samples, steps })
  if (isMissed) fail(`not found: ${fault} (${module})`)
  else say(`found: ${fault}`)
}
if (noPostgres !== false) say(noPostgres)
else await replayTraces(seed ?? randomInt(1_000_000_000))

async function replayTraces(first: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ownership-'))
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    const teardown = (end: () => unknown): void => void ends.push(end)
    const { url } = await startPostgres({ teardown }, { fsync: 'off' })
    const real = await openRealOwners(url)
    ends.push(() => real.close())
    for (let from = 0; from < traces; from += TRACES_PER_FILE) {
      const recorded = new Map<string, readonly string[]>()
      for (let n = from; n < Math.min(traces, from + TRACES_PER_FILE); n++) {
        const random = createSeededRandom(first, n)
        recorded.set(`trace${n}`, (await recordTrace(real, random, TRACE_STEPS)).steps)
      }
      const file = join(folder, 'replay.qnt')
      writeFileSync(file, replayFile(recorded))
      const told = await testRuns(file)
      const accepted = [...recorded.keys()].filter((name) => told.includes(`ok ${name} passed`))
      if (accepted.length < recorded.size) return fail(`${told}\nTo repeat: ARGS="--seed ${first}"`)
    }
    say(`${traces} traces of the real code, seed ${first}: each is one of the model`)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}
