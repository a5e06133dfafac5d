/**
 * The supervisor: one command that runs the whole stack.
 *
 * Owns: signals and exit codes. Does not own: the stack (stack).
 *
 * - Ctrl-C, SIGTERM and a closed terminal stop everything in order and exit 0. So does the end of
 *   a program that started it with a channel to it.
 * - What makes a start impossible is told in one sentence, exit 1; exit 78 when the books are
 *   behind what others know of them, also when that is found out later.
 * - Files are for their owner alone, those of children too.
 */
import { systemClock } from '../base/clock.js'
import { systemRandom } from '../base/random.js'
import { SettingsError } from '../base/settings.js'
import { StartupError } from './startup_error.js'
import { openDataFolder } from './data_folder.js'
import { readEnvironment } from './environment.js'
import { refuseSilentNats } from './external_nats.js'
import { refuseTakenPorts } from './ports.js'
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
  await terminateStaleRun(data.file(RUN_FILE), clock, terminal.say)
  await refuseTakenPorts(environment.settings)
  await refuseSilentNats(environment.settings)
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
      terminal.trouble(why)
      void stop().then(() => process.exit(exitCode))
    },
  })

  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= stack.stop().then(() => data.release()))
  const stopAndExit = (): void => {
    if (stopping === undefined) terminal.say('stopping …')
    void stop().then(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopAndExit)
  process.on('disconnect', stopAndExit)

  terminal.say(`Causeway, data in ${data.path}`)
  try {
    await stack.start()
  } catch (error) {
    if (stopping !== undefined) return // a start that was stopped fails as a matter of course
    await stop()
    throw refused ?? error // what else failed followed from it
  }
}

main().catch((error: unknown) => {
  const expected = error instanceof StartupError || error instanceof SettingsError
  console.error(expected ? error.message : error)
  process.exit(error instanceof StartupError ? error.exitCode : 1)
})
