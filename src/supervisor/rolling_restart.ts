/**
 * A rolling restart: replaces every process by a new run of the program on disk, one after the
 * other. `restart.json` has its progress, for the program that requested it.
 *
 * Does not own: how one process is replaced (managed_process).
 *
 * - A gateway's successor listens on the same port before it drains. Every other process ends
 *   before its successor serves, because only one may own its data; its clients wait for it.
 * - The first process that is not ready afterwards ends the restart: the others keep running.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND, toRfc3339, type Clock } from '../base/clock.js'
import { writeSecretFile } from '../files/secret_file.js'
import { kindOf } from './kinds.js'
import type { ManagedProcess } from './managed_process.js'
import { messageOf } from './startup_error.js'
import type { Terminal } from './terminal.js'

export const RESTART_FILE = 'restart.json'

/** The contents of RESTART_FILE. */
export interface RestartProgress {
  readonly state: 'running' | 'done' | 'failed'
  /** RFC 3339. A supervisor of before 1.1 does not write it. */
  readonly begun_at?: string
  readonly replaced: readonly { readonly name: string; readonly seconds: number }[]
  /** Why it failed. */
  readonly reason?: string
}

export interface RollingRestartOptions {
  readonly file: string
  readonly clock: Clock
  readonly terminal: Terminal
  readonly log: {
    info(facts: object, text: string): void
    error(facts: object, text: string): void
  }
  readonly isStopping: () => boolean
  /** Resolves when the next process may be replaced. */
  readonly settled: () => Promise<void>
}

const OVERLAPPING = 'gateway'
const POLL_INTERVAL_MS = 50
const SETTLED_WITHIN_MS = 60 * SECOND

/** Never rejects. */
export async function restartEach(
  processes: readonly ManagedProcess[],
  { file, clock, terminal, log, isStopping, settled }: RollingRestartOptions,
): Promise<void> {
  const replaced: { name: string; seconds: number }[] = []
  const begunAt = toRfc3339(clock.now())
  const report = (progress: Omit<RestartProgress, 'replaced' | 'begun_at'>): void => {
    try {
      writeSecretFile(file, `${JSON.stringify({ ...progress, begun_at: begunAt, replaced })}\n`)
    } catch (error) {
      terminal.error(`${RESTART_FILE} cannot be written (${String(error)})`)
    }
  }
  terminal.info('rolling restart: every process is replaced by the program on disk')
  report({ state: 'running' })
  try {
    for (const managed of processes) {
      if (isStopping()) throw new Error('the stack stops')
      await settled()
      const since = clock.now()
      await managed.replace(kindOf(managed.name) === OVERLAPPING ? 'overlap' : 'one_at_a_time')
      replaced.push({ name: managed.name, seconds: (clock.now() - since) / SECOND })
      report({ state: 'running' })
      log.info({ program: managed.name, pid: managed.pid }, 'process is replaced')
    }
    await settled()
    report({ state: 'done' })
    terminal.info('rolling restart: done')
  } catch (error) {
    const reason = messageOf(error)
    report({ state: 'failed', reason })
    log.error({ reason }, 'rolling restart ended early')
    terminal.error(`rolling restart ended early: ${reason}`)
  }
}

/** @throws Error when it does not hold in time */
export async function untilSettled(isSettled: () => boolean, clock: Clock): Promise<void> {
  const since = clock.now()
  while (!isSettled()) {
    if (clock.now() - since > SETTLED_WITHIN_MS) throw new Error('not every process is ready')
    await sleep(POLL_INTERVAL_MS)
  }
}
