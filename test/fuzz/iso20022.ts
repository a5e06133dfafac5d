/**
 * Fuzzes the reader of ISO 20022 messages for a given time:
 * `node .build/test/fuzz/iso20022.js --seconds 600`; `--seed N` repeats a run's inputs.
 */
import { randomInt } from 'node:crypto'
import { programOptions } from '../../src/process/program_options.js'
import { attackMessages } from './iso20022_attack.js'

const { seconds, seed = randomInt(1_000_000) } = programOptions(
  'fuzz-iso20022',
  'Reads damaged messages of ISO 20022.',
  {
    seconds: { value: 'N', about: 'duration in seconds', kind: 'number', fallback: 60 },
    seed: { value: 'N', about: 'repeats a run', kind: 'number' },
  },
)
const until = performance.now() + seconds * 1_000
console.log(`seed ${seed}, ${seconds} s`)
const { inputs, read, faults } = attackMessages({ seed, goesOn: () => performance.now() < until })
console.log(`${inputs} messages, ${read} of them valid`)
for (const fault of faults) console.log(fault)
process.exitCode = faults.length === 0 ? 0 : 1
