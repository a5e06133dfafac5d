/**
 * Simulations by seed: `make sim`, or `node .build/test/simulation/main.js [--seed S] [--runs N]
 * [--steps N] [--trace]`.
 *
 * Without a seed it makes many runs from a random seed; with a seed, that run alone. Each run
 * prints its seed.
 */
import { randomInt } from 'node:crypto'
import { programOptions } from '../../src/base/program_options.js'
import { simulateSeeds } from './seeds.js'

const values = programOptions(
  'sim',
  'Simulates the processor with a store, a rail and a bus that fail.',
  {
    seed: { value: 'N', about: 'repeats a run', kind: 'number' },
    runs: { value: 'N', about: 'seeds in a row; 50, or 1 with --seed', kind: 'number' },
    steps: { value: 'N', about: 'of each run', kind: 'number', fallback: 1_500 },
    trace: { about: 'print each step' },
  },
)
const print = (line: string): void => console.log(line)

const counts = await simulateSeeds({
  first: values.seed ?? randomInt(1_000_000_000),
  runs: values.runs ?? (values.seed === undefined ? 50 : 1),
  steps: values.steps,
  onLine: print,
  ...(values.trace ? { trace: print } : {}),
})
if (counts === null) process.exitCode = 1
else for (const [what, times] of [...counts].sort()) print(`${String(times).padStart(10)}  ${what}`)
