/**
 * `make cluster`: the whole service scaled out on one machine, for trial.
 *
 * - Ctrl-C, SIGTERM, SIGHUP and the end of a parent with an IPC channel stop everything in order;
 *   the exit code is 0.
 * - A failed start prints one sentence and exits with 1.
 */
import { systemClock } from '../../base/clock.js'
import { systemRandom } from '../../base/random.js'
import { SettingsError } from '../../base/settings_reader.js'
import { openDataFolder } from '../data_folder.js'
import { readEnvironment } from '../environment.js'
import { terminateStaleRun } from '../pid_file.js'
import { requireFreePorts } from '../ports.js'
import { RUN_FILE } from '../stack.js'
import { StartupError } from '../startup_error.js'
import { createTerminal } from '../terminal.js'
import { createTrialCluster } from './trial_cluster.js'

const OWNER_ONLY = 0o077

async function main(): Promise<void> {
  process.umask(OWNER_ONLY)
  const clock = systemClock
  const terminal = createTerminal(clock)
  const environment = readEnvironment()
  const { settings } = environment
  const given = (['STORE_URL', 'NATS_URL'] as const).filter((name) => settings[name] !== '')
  if (given.length > 0) {
    throw new StartupError(`make cluster runs servers of its own: unset ${given.join(' and ')}.`)
  }
  const data = await openDataFolder(settings.DATA_DIR)
  await terminateStaleRun(data.file(RUN_FILE), clock, terminal.info)
  await requireFreePorts({ ...settings, GRPC_PORT: 0, NATS_PORT: 0 })
  await requireFreePorts({ ...settings, HTTP_HOST: '127.0.0.2', GRPC_PORT: 0, NATS_PORT: 0 })
  let refused: StartupError | undefined
  const cluster = await createTrialCluster({
    environment,
    data,
    clock,
    random: systemRandom(),
    terminal,
    onRefused: (why, exitCode) => {
      refused = new StartupError(why, exitCode)
      if (stopping !== undefined) return
      terminal.error(why)
      void stop().then(() => process.exit(exitCode))
    },
  })

  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= cluster.stop().then(() => data.release()))
  const stopAndExit = (): void => {
    if (stopping === undefined) terminal.info('stopping …')
    void stop().then(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopAndExit)
  process.on('disconnect', stopAndExit)

  terminal.info(`Causeway as a cluster, data in ${data.path}`)
  try {
    await cluster.start()
  } catch (error) {
    if (stopping !== undefined) return // stopped during the start
    await stop()
    throw refused ?? error // other errors follow from it
  }
}

main().catch((error: unknown) => {
  const expected = error instanceof StartupError || error instanceof SettingsError
  console.error(expected ? error.message : error)
  process.exit(error instanceof StartupError ? error.exitCode : 1)
})
