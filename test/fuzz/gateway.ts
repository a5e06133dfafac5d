/**
 * Fuzzes the door for some time: `node .build/test/fuzz/gateway.js --seconds 600`.
 *
 * `--seed N` repeats a run's inputs; with `--only I` the one of that number is played alone.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { numberFlag } from '../support/number_flag.js'
import { attackGateway } from './gateway_attack.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
})
const seconds = numberFlag('seconds', values.seconds)
const seed = values.seed === undefined ? randomInt(1_000_000) : numberFlag('seed', values.seed)
console.log(`seed ${seed}, ${seconds} s`)
const { inputs, statuses, faults } = await attackGateway({
  seed,
  forMs: seconds * 1_000,
  ...(values.only === undefined ? {} : { only: numberFlag('only', values.only) }),
})
console.log(`${inputs} inputs; answers by status (0: none):`, statuses)
for (const fault of faults) console.log(fault)
process.exitCode = faults.length === 0 ? 0 : 1
