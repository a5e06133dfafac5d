/**
 * The supervisor: runs the whole stack.
 *
 * - Ctrl-C, SIGTERM, SIGHUP and the end of a parent with an IPC channel stop everything in order;
 *   the exit code is 0.
 * - A failed start prints one sentence and exits with 1; with 78 when the books are behind, also
 *   when that is detected later.
 * - All files are readable by their owner only, those of child processes too.
 */
import { systemClock } from '../base/clock.js'
import { systemRandom } from '../base/random.js'
import { connectServiceManager } from '../base/service_manager.js'
import { SettingsError } from '../base/settings_reader.js'
import { StartupError } from './startup_error.js'
import { openDataFolder } from './data_folder.js'
import { readEnvironment } from './environment.js'
import { requireReachableNats } from './external_nats.js'
import { requireFreePorts } from './ports.js'
import { refuseSandboxRailInProduction } from './programs.js'
import { terminateStaleRun } from './pid_file.js'
import { createStack, RUN_FILE } from './stack.js'
import { createTerminal } from './terminal.js'

const OWNER_ONLY = 0o077

async function main(): Promise<void> {
  process.umask(OWNER_ONLY)
  const clock = systemClock
  const terminal = createTerminal(clock)
  const environment = readEnvironment()
  refuseSandboxRailInProduction(environment.settings)
  const data = await openDataFolder(environment.settings.DATA_DIR)
  await terminateStaleRun(data.file(RUN_FILE), clock, terminal.info)
  await requireFreePorts(environment.settings)
  await requireReachableNats(environment.settings)
  let refused: StartupError | undefined
  const stack = await createStack({
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
  const manager = connectServiceManager()
  const stop = (): Promise<void> => (stopping ??= stack.stop().then(() => data.release()))
  const stopAndExit = (): void => {
    if (stopping === undefined) {
      terminal.info('stopping …')
      manager.stopping()
    }
    void stop().then(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopAndExit)
  process.on('disconnect', stopAndExit)

  terminal.info(`Causeway, data in ${data.path}`)
  try {
    await stack.start()
    if (stopping === undefined) manager.ready()
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
