/**
 * How a process whose start fails ends: one sentence on standard error and exit code 1.
 *
 * - A programming error keeps its stack trace, which names lines of the sources.
 * - Once the process has started, an uncaught exception ends it as Node does by default.
 */
import { useSourcePositions } from './source_positions.js'

const EXIT_FAILED_START = 1

/** Call first, before the settings are read. */
export function reportStartupFaults(): void {
  useSourcePositions()
  process.once('uncaughtException', end)
}

export function startupDone(): void {
  process.off('uncaughtException', end)
}

function end(error: unknown): void {
  process.stderr.write(`${isMistake(error) ? String(error.stack) : textOf(error)}\n`)
  process.exit(EXIT_FAILED_START)
}

const isMistake = (error: unknown): error is Error =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
