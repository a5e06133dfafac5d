/**
 * `make restart`: requests a rolling restart of the running stack or cluster and follows it. It
 * exits with 0 once every process is replaced.
 *
 * - A restart that began before the request replaces some processes by earlier programs: it is not
 *   the requested one, and others follow it by its file.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock, type Instant } from '../base/clock.js'
import { programOptions } from '../process/program_options.js'
import { readSettings } from '../settings/settings_reader.js'
import { requestRollingRestart } from './pid_file.js'
import { RESTART_FILE, type RestartProgress } from './rolling_restart.js'
import { runMain } from './run_until_stopped.js'
import { RUN_FILE } from './stack.js'
import { StartupError } from './startup_error.js'

const POLL_INTERVAL_MS = 100
const BEGINS_WITHIN_MS = 5_000

async function main(): Promise<void> {
  programOptions('restart', 'Replaces every process of the running stack, one by one.', {})
  const folder = resolve(readSettings().DATA_DIR)
  const file = join(folder, RESTART_FILE)
  if (progressIn(file)?.begun_at === undefined) rmSync(file, { force: true })
  const requestedAt = systemClock.now()
  const isSupervised = requestRollingRestart(join(folder, RUN_FILE))
  const since = performance.now()
  let shown = 0
  for (;;) {
    await sleep(POLL_INTERVAL_MS)
    const hasEnded = !isSupervised() // before its progress is read, so that is its last
    const progress = progressIn(file)
    if (progress === undefined || isBefore(requestedAt, progress)) {
      if (performance.now() - since > BEGINS_WITHIN_MS) {
        throw new StartupError(
          'The stack does not begin a restart: it starts, or restarts already.',
        )
      }
      continue
    }
    for (const { name, seconds } of progress.replaced.slice(shown)) {
      console.log(`${name.padEnd(12)} replaced in ${seconds.toFixed(1)} s`)
    }
    shown = progress.replaced.length
    if (progress.state === 'failed') throw new StartupError(`Not all: ${progress.reason ?? ''}`)
    if (progress.state === 'done') return console.log('every process is replaced')
    if (hasEnded) throw new StartupError('Not all: the supervisor has ended. Start the stack.')
  }
}

const isBefore = (requestedAt: Instant, { begun_at: begunAt }: RestartProgress): boolean =>
  begunAt !== undefined && Date.parse(begunAt) < requestedAt

/** Undefined means that it has not begun, or is being written. */
function progressIn(file: string): RestartProgress | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RestartProgress
  } catch {
    return undefined
  }
}

runMain(main)
