/** The supervisor: runs the whole stack. Signals and exit codes: run_until_stopped.ts. */
import { systemClock } from '../base/clock.js'
import { systemRandom } from '../base/random.js'
import { openDataFolder } from './data_folder.js'
import { readEnvironment } from './environment.js'
import { requireReachableNats } from './external_nats.js'
import { terminateStaleRun } from './pid_file.js'
import { requireFreePorts } from './ports.js'
import { refuseUnfitRails } from './programs.js'
import { runMain, runUntilStopped } from './run_until_stopped.js'
import { createStack, RUN_FILE } from './stack.js'
import { createTerminal } from './terminal.js'

async function main(): Promise<void> {
  const clock = systemClock
  const terminal = createTerminal(clock)
  const environment = readEnvironment()
  refuseUnfitRails(environment.settings)
  const data = await openDataFolder(environment.settings.DATA_DIR)
  await terminateStaleRun(data.file(RUN_FILE), clock, terminal.info)
  await requireFreePorts(environment.settings)
  await requireReachableNats(environment.settings)
  await runUntilStopped({
    ...{ title: `Causeway, data in ${data.path}`, data, terminal },
    create: (onRefused) =>
      createStack({ environment, data, clock, random: systemRandom(), terminal, onRefused }),
  })
}

runMain(main)
