/**
 * The main program of a stack or a cluster: start, signals, exit codes.
 *
 * - Ctrl-C, SIGTERM, SIGHUP and the end of a parent with an IPC channel stop everything in order;
 *   the exit code is 0.
 * - SIGUSR2 begins a rolling restart, unless one is running or the start is not complete.
 * - A failed start prints one sentence and exits with 1; with 78 when the books are behind, also
 *   when that is detected later.
 * - All files are readable by their owner only, those of child processes too.
 * - What cannot be printed is lost, and changes nothing.
 */
import { connectServiceManager } from '../process/service_manager.js'
import { SecretFileError } from '../files/secret_file.js'
import { SettingsError } from '../settings/settings_reader.js'
import { useSourcePositions } from '../process/source_positions.js'
import type { DataFolder } from './data_folder.js'
import { RESTART_SIGNAL } from './pid_file.js'
import { StartupError } from './startup_error.js'
import type { Terminal } from './terminal.js'

export interface ProcessGroup {
  start(): Promise<void>
  /** Never rejects. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface RunOptions {
  /** First line on the terminal. */
  readonly title: string
  readonly data: DataFolder
  readonly terminal: Terminal
  readonly create: (onRefused: (why: string, exitCode: number) => void) => Promise<ProcessGroup>
}

const OWNER_ONLY = 0o077

export async function runUntilStopped(options: RunOptions): Promise<void> {
  const { title, data, terminal, create } = options
  let refused: StartupError | undefined
  let stopping: Promise<void> | undefined
  const group = await create((why, exitCode) => {
    refused = new StartupError(why, exitCode)
    if (stopping !== undefined) return
    terminal.error(why)
    void stop().then(() => process.exit(exitCode))
  })
  const manager = connectServiceManager()
  const stop = (): Promise<void> => (stopping ??= group.stop().then(() => data.release()))
  const stopAndExit = (): void => {
    if (stopping === undefined) {
      terminal.info('stopping …')
      manager.stopping()
    }
    void stop().then(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopAndExit)
  process.on('disconnect', stopAndExit)
  let mayRestart = false
  const restart = async (): Promise<void> => {
    if (!mayRestart || stopping !== undefined) return
    mayRestart = false
    await group.restart()
    mayRestart = true
  }
  process.on(RESTART_SIGNAL, () => void restart())

  terminal.info(title)
  try {
    await group.start()
    if (stopping !== undefined) return
    mayRestart = true
    manager.ready()
  } catch (error) {
    if (stopping !== undefined) return // stopped during the start
    await stop()
    throw refused ?? error // other errors follow from it
  }
}

const isExpected = (error: unknown): error is Error =>
  [StartupError, SettingsError, SecretFileError].some((kind) => error instanceof kind)

/** Runs a main program; expected errors end it with their sentence. */
export function runMain(main: () => Promise<void>): void {
  useSourcePositions()
  process.umask(OWNER_ONLY)
  // A reader that ends before the stack, as `tee` does at Ctrl-C, or a full disk must not end it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  main().catch((error: unknown) => {
    console.error(isExpected(error) ? error.message : error)
    process.exit(error instanceof StartupError ? error.exitCode : 1)
  })
}
