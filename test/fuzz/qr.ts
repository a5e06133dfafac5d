/**
 * Fuzzes the reader of QR codes for some time: `node .build/test/fuzz/qr.js --seconds 600`.
 *
 * `--seed N` repeats a run's inputs; with `--only I` the one of that number is played alone.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { numberFlag } from '../support/number_flag.js'
import { attackQr } from './qr_attack.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
})
const seconds = numberFlag('seconds', values.seconds)
const seed = values.seed === undefined ? randomInt(1_000_000) : numberFlag('seed', values.seed)
const until = performance.now() + seconds * 1_000
console.log(`seed ${seed}, ${seconds} s`)
const { inputs, verdicts, faults } = attackQr({
  seed,
  goesOn: () => performance.now() < until,
  ...(values.only === undefined ? {} : { only: numberFlag('only', values.only) }),
})
console.log(`${inputs} codes; by verdict:`, verdicts)
for (const fault of faults) console.log(fault)
process.exitCode = faults.length === 0 ? 0 : 1
