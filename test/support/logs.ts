/** Logs of tests: none, or lines that a test reads. */
import { createLog } from '../../src/base/log.js'

/** One for all: each further one stays in memory. */
export const SILENT_LOG = createLog('test', { LOG_LEVEL: 'silent' })

/** A log with its lines so far. */
export function readableLog(LOG_LEVEL: 'debug' | 'info' | 'warn') {
  const lines: string[] = []
  const write = (line: string): void => void lines.push(line)
  return { lines, log: createLog('test', { LOG_LEVEL }, { write }) }
}
