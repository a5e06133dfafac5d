/**
 * A longer model-based run: `make model`, with `--runs N`, `--seed S`, `--rebuilt`. Without a seed
 * each world uses a random one; a failure prints its seed.
 */
import { randomInt } from 'node:crypto'
import t from 'tap'
import { programOptions } from '../../src/process/program_options.js'
import { runBooks } from './books/run.js'
import { runWorlds } from './worlds.js'

/** Calls of a sequence; `--runs` counts calls of the books. */
const STEPS = 150

const values = programOptions('model', 'Random intents against the reference model.', {
  runs: { value: 'N', about: 'random sequences', kind: 'number', fallback: 5_000 },
  seed: { value: 'N', about: 'repeats a run', kind: 'number' },
  rebuilt: { about: 'actors are rebuilt from disk before each command' },
  books: { about: 'payouts, conversions, discrepancies and approvals instead of intents' },
})

if (values.books) await runBooksSeeds(values.seed ?? randomInt(1_000_000_000))
else runWorlds(t, values)

/** With a seed only that one, as a failure names it. */
async function runBooksSeeds(first: number): Promise<void> {
  t.setTimeout(0)
  const runs = values.seed === undefined ? Math.ceil(values.runs / STEPS) : 1
  for (let seed = first; seed < first + runs; seed++) {
    await t.test(`seed ${seed}`, async (t) => {
      await runBooks(t, { seed, steps: STEPS, isRebuilt: values.rebuilt })
    })
  }
}
