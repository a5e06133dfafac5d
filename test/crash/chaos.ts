/**
 * Random faults under load: `make chaos DURATION=60 SEED=1`, or `node
 * .build/test/crash/chaos.js --duration 60 --seed 1`.
 *
 * Lists the faults and the number of payments lost or doubled; exits with 1 unless both are 0.
 *
 * The seed determines the faults, their order and the payments; timing depends on the machine.
 */
import { randomInt } from 'node:crypto'
import { systemPause } from '../../src/base/clock.js'
import { programOptions } from '../../src/process/program_options.js'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { printChecks } from '../workload/final_checks.js'
import { startStackUnderLoad } from '../workload/stack_under_load.js'
import { FAULTS } from './faults.js'

const values = programOptions('chaos', 'Kills and freezes the processes of a stack under load.', {
  duration: { value: 'SECONDS', about: 'duration of the load', kind: 'number', fallback: 60 },
  seed: { value: 'N', about: 'repeats a run', kind: 'number' },
})
const seconds = values.duration
const seed = values.seed ?? randomInt(1_000_000_000)

const PAYERS = 10
const PAUSE_MAX_MS = 3_000
const print = (line: string): void => console.log(line)

print(`chaos for ${seconds} s. To repeat: make chaos DURATION=${seconds} SEED=${seed}`)
const load = await startStackUnderLoad({ payers: PAYERS, seed })
const random = createSeededRandom(seed, 0)
const counts = new Map<string, number>()
const until = performance.now() + seconds * 1_000
while (performance.now() < until) {
  await systemPause(random.int(PAUSE_MAX_MS))
  const fault = random.pick(FAULTS)
  print(`  ${fault.name}`)
  await fault.cause(load.stack, random)
  counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
}
const checks = await load.check()
await load.stop()

print(`faults: ${[...counts.values()].reduce((sum, count) => sum + count, 0)}`)
for (const [name, count] of counts) print(`${String(count).padStart(8)}  ${name}`)
if (!printChecks(checks, load.payers, print) || counts.size === 0) process.exitCode = 1
