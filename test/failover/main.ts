/**
 * Kills of the PostgreSQL primary and of the processor under load: `make failover ROUNDS=20`, or
 * `node .build/test/failover/main.js --rounds 20 --seed 1`.
 *
 * A round kills every process of the primary, promotes its synchronous standby, rebuilds the other
 * server as the next standby, and kills the processor. It exits with 1 unless no payment was lost
 * or doubled and the audit is clean.
 */
import { randomInt } from 'node:crypto'
import { systemPause } from '../../src/base/clock.js'
import { programOptions } from '../../src/process/program_options.js'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { noPostgres } from '../support/postgres_server.js'
import { startReplicated } from '../support/replicated_postgres.js'
import { printChecks } from '../workload/final_checks.js'
import { startStackUnderLoad } from '../workload/stack_under_load.js'

const values = programOptions('failover', 'Kills the PostgreSQL primary under load.', {
  rounds: { value: 'N', about: 'kills of each', kind: 'number', fallback: 20 },
  seed: { value: 'N', about: 'repeats a run', kind: 'number' },
})
const { rounds } = values
const seed = values.seed ?? randomInt(1_000_000_000)

const PAYERS = 6
const PAUSE_MAX_MS = 1_500
const print = (line: string): void => console.log(line)

if (noPostgres !== false) {
  print(noPostgres)
  process.exit(1)
}
print(`${rounds} rounds. To repeat: make failover ROUNDS=${rounds} SEED=${seed}`)
const random = createSeededRandom(seed, 0)
const ends: (() => unknown)[] = []
const servers = await startReplicated({ teardown: (end) => ends.push(end) })
process.env['TEST_STORE_URL'] = servers.url
const load = await startStackUnderLoad({ payers: PAYERS, seed })
const { stack, payers } = load
const pauses: number[] = []

for (let round = 1; round <= rounds; round++) {
  await systemPause(random.int(PAUSE_MAX_MS))
  const owner = stack.pidOf('processor')
  const killedAt = performance.now()
  await servers.killPrimary()
  await servers.promote()
  await stack.untilRestarted('processor', owner)
  pauses.push(performance.now() - killedAt)
  await servers.rebuild()
  await systemPause(random.int(PAUSE_MAX_MS))
  await stack.kill('processor')
  const seconds = ((pauses.at(-1) ?? 0) / 1_000).toFixed(1)
  print(`  round ${round}: ${payers.payments.length} acknowledged, serving after ${seconds} s`)
}
const checks = await load.check()
await load.stop()
for (const end of ends) await end()

const longest = Math.max(0, ...pauses) / 1_000
print(`kills: ${pauses.length} of the primary, ${pauses.length} of the processor`)
print(`serving again after a kill of the primary: at most ${longest.toFixed(1)} s`)
if (!printChecks(checks, payers, print)) process.exitCode = 1
