/**
 * `make cluster`: the whole service scaled out on one machine, for trial. Signals and exit codes:
 * ../supervisor/run_until_stopped.ts.
 */
import { systemClock } from '../base/clock.js'
import { systemRandom } from '../base/random.js'
import { openDataFolder } from '../supervisor/data_folder.js'
import { readEnvironment } from '../supervisor/environment.js'
import { terminateStaleRun } from '../supervisor/pid_file.js'
import { requireFreePorts } from '../supervisor/ports.js'
import { refuseUnfitRails } from '../supervisor/programs.js'
import { runMain, runUntilStopped } from '../supervisor/run_until_stopped.js'
import { RUN_FILE } from '../supervisor/stack.js'
import { StartupError } from '../supervisor/startup_error.js'
import { createTerminal } from '../supervisor/terminal.js'
import { createTrialCluster } from './trial_cluster.js'

async function main(): Promise<void> {
  const clock = systemClock
  const terminal = createTerminal(clock)
  const environment = readEnvironment()
  const { settings } = environment
  const given = (['STORE_URL', 'NATS_URL'] as const).filter((name) => settings[name] !== '')
  if (given.length > 0) {
    throw new StartupError(`make cluster runs servers of its own: unset ${given.join(' and ')}.`)
  }
  refuseUnfitRails(settings)
  const data = await openDataFolder(settings.DATA_DIR)
  await terminateStaleRun(data.file(RUN_FILE), clock, terminal.info)
  await requireFreePorts({ ...settings, GRPC_PORT: 0, NATS_PORT: 0 })
  await requireFreePorts({ ...settings, HTTP_HOST: '127.0.0.2', GRPC_PORT: 0, NATS_PORT: 0 })
  await runUntilStopped({
    ...{ title: `Causeway as a cluster, data in ${data.path}`, data, terminal },
    create: (onRefused) =>
      createTrialCluster({
        ...{ environment, data, clock, random: systemRandom(), terminal, onRefused },
      }),
  })
}

runMain(main)
