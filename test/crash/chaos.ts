/**
 * Random faults under load: `make chaos DURATION=60 SEED=1`, or `node
 * .build/test/crash/chaos.js --duration 60 --seed 1`.
 *
 * Lists the faults and the number of payments lost or doubled; exits with 1 unless both are 0.
 *
 * The seed determines the faults, their order and the payments; timing depends on the machine.
 */
import { randomInt } from 'node:crypto'
import { programOptions } from '../../src/base/program_options.js'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { partnerOf } from '../support/partner.js'
import { receiverOf } from '../support/receiver.js'
import { startSupervisedStack, type SupervisedStack } from '../support/supervised_stack.js'
import { startPayers } from './payers.js'
import { runFinalChecks, type FinalChecks } from './final_checks.js'
import { pause, FAULTS } from './faults.js'

const values = programOptions('chaos', 'Kills and freezes the processes of a stack under load.', {
  duration: { value: 'SECONDS', about: 'duration of the load', kind: 'number', fallback: 60 },
  seed: { value: 'N', about: 'repeats a run', kind: 'number' },
})
const seconds = values.duration
const seed = values.seed ?? randomInt(1_000_000_000)

const PAYERS = 10
const PAUSE_MAX_MS = 3_000
const FAILURES_SHOWN = 20
const print = (line: string): void => console.log(line)

print(`chaos for ${seconds} s. To repeat: make chaos DURATION=${seconds} SEED=${seed}`)
const stack = await startSupervisedStack({ RAIL_DELAY_MS: '100', RATE_LIMIT: 'off' })
const partner = partnerOf(stack.sandbox)
const receiver = await receiverOf(partner)
const payers = startPayers(partner, PAYERS, (payer) => createSeededRandom(seed, payer + 1))
const faults = await injectFaults(stack)
await payers.stop()
const finalChecks = await runFinalChecks(stack.dataDir, partner, receiver, payers)
await receiver.close()
await stack.stop()
report(finalChecks)

async function injectFaults(stack: SupervisedStack): Promise<ReadonlyMap<string, number>> {
  const random = createSeededRandom(seed, 0)
  const counts = new Map<string, number>()
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    await pause(random.int(PAUSE_MAX_MS))
    const fault = random.pick(FAULTS)
    print(`  ${fault.name}`)
    await fault.cause(stack, random)
    counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
  }
  return counts
}

function report({ lost, doubled, events, executions, audit, clean }: FinalChecks): void {
  const times = [...faults.values()].reduce((sum, count) => sum + count, 0)
  print(`faults: ${times}`)
  for (const [name, count] of faults) print(`${String(count).padStart(8)}  ${name}`)
  print(`payments: ${payers.payments.length} acknowledged, ${payers.gaveUp()} given up`)
  print(`the rail paid ${executions}; ${events} events were delivered`)
  for (const line of [...lost, ...doubled].slice(0, FAILURES_SHOWN)) print(`  ${line}`)
  print(audit)
  print(`${lost.length} lost, ${doubled.length} doubled`)
  const hasRun = times > 0 && payers.payments.length > 0
  if (lost.length + doubled.length > 0 || !clean || !hasRun) process.exitCode = 1
}
