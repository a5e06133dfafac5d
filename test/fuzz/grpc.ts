/**
 * Fuzzes the processor's gRPC port for a given time: `node .build/test/fuzz/grpc.js --seconds 600`.
 *
 * `--seed N` repeats a run's inputs; with `--only I` it runs only that input.
 */
import { randomInt } from 'node:crypto'
import { programOptions } from '../../src/process/program_options.js'
import { attackGrpc } from './grpc_attack.js'

const values = programOptions('fuzz-grpc', 'Sends corrupted calls to a processor.', {
  seconds: { value: 'N', about: 'duration in seconds', kind: 'number', fallback: 60 },
  seed: { value: 'N', about: 'repeats a run', kind: 'number' },
  only: { value: 'N', about: 'runs only the input of this number', kind: 'number' },
})
const seconds = values.seconds
const seed = values.seed ?? randomInt(1_000_000)
console.log(`seed ${seed}, ${seconds} s`)
const { inputs, statuses, faults } = await attackGrpc({
  seed,
  forMs: seconds * 1_000,
  ...(values.only === undefined ? {} : { only: values.only }),
})
console.log(`${inputs} inputs; answers by status:`, statuses)
for (const fault of faults) console.log(fault)
process.exitCode = faults.length === 0 ? 0 : 1
