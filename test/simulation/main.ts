/**
 * Simulations by seed: `make sim`, or `node .build/test/simulation/main.js [--seed S] [--runs N]
 * [--steps N] [--trace]`.
 *
 * Without a seed many runs are made, from one that is drawn; with one, that run alone. Each run
 * tells its seed.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { numberFlag } from '../support/number_flag.js'
import { simulateSeeds } from './seeds.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string' },
    steps: { type: 'string', default: '1500' },
    trace: { type: 'boolean', default: false },
  },
})
const say = (line: string): void => console.log(line)

const counts = await simulateSeeds({
  first: values.seed === undefined ? randomInt(1_000_000_000) : numberFlag('seed', values.seed),
  runs: numberFlag('runs', values.runs ?? (values.seed === undefined ? '50' : '1')),
  steps: numberFlag('steps', values.steps),
  tell: say,
  ...(values.trace ? { trace: say } : {}),
})
if (counts === null) process.exitCode = 1
else for (const [what, times] of [...counts].sort()) say(`${String(times).padStart(10)}  ${what}`)
