/**
 * `make stop`: stops the stack or cluster of DATA_DIR from another terminal, as Ctrl-C does. It
 * exits with 0 once none of its processes runs, also when none did.
 *
 * - A stack is known by its `run.json`. One that holds the lock of DATA_DIR and is not in that file
 *   is left alone, with exit code 1.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemPause } from '../base/clock.js'
import { readSettings } from '../settings/settings_reader.js'
import { programOptions } from '../process/program_options.js'
import { FolderInUse, openDataFolder } from './data_folder.js'
import { findRun } from './pid_file.js'
import { runMain } from './run_until_stopped.js'
import { RUN_FILE } from './stack.js'
import { StartupError } from './startup_error.js'
import { stopRun } from './stop_run.js'

async function main(): Promise<void> {
  programOptions('stop', 'Stops the running stack or cluster of DATA_DIR.', {})
  const { DATA_DIR } = readSettings()
  const folder = resolve(DATA_DIR)
  const run = findRun(join(folder, RUN_FILE))
  if (run === undefined) {
    if (existsSync(folder)) await requireUnused(DATA_DIR)
    return console.log(`No stack runs in ${folder}.`)
  }
  console.log(`stopping the stack in ${folder}: ${run.running().join(', ')}`)
  const elapsed = (): number => performance.now()
  await stopRun(run, { elapsed, pause: systemPause, print: (line) => console.log(line) })
}

async function requireUnused(dataDir: string): Promise<void> {
  try {
    await (await openDataFolder(dataDir)).release()
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    throw new StartupError(
      `A stack runs in DATA_DIR=${dataDir}, and ${RUN_FILE} does not name it: if it starts, try ` +
        'again; else stop it in its terminal.',
    )
  }
}

runMain(main)
