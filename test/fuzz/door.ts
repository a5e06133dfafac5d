/**
 * Fuzzes the door for some time: `node .build/test/fuzz/door.js --seconds 600`.
 *
 * `--seed N` repeats a run's inputs; with `--only I` the one of that number is played alone.
 */
import { parseArgs } from 'node:util'
import { attackDoor } from './door_attack.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
console.log(`seed ${seed}, ${values.seconds} s`)
const { inputs, statuses, faults } = await attackDoor({
  seed,
  forMs: Number(values.seconds) * 1_000,
  ...(values.only === undefined ? {} : { only: Number(values.only) }),
})
console.log(`${inputs} inputs; answers by status (0: none):`, statuses)
for (const fault of faults) console.log(fault)
process.exitCode = faults.length === 0 ? 0 : 1
