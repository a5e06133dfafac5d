/**
 * The logger: one schema for the lines of every process (operations/guide/logs.md).
 *
 * - A line has `time` (ISO 8601), `level` as a word, `process`, `message`, then its own fields in
 *   snake_case. An exception is `error`: its type, message, code and stack.
 * - A line that is written often is built by its caller and passed to `writeLines`.
 * - The lines before an exit are written if the reader takes them within FLUSH_WITHIN_MS.
 * - A reader that stands still stops nothing: lines beyond WAITING_MAX_BYTES are lost, and a line
 *   says how many once it reads on.
 * - Bodies, QR payloads, account numbers, tokens and secrets are never passed to a logger;
 *   redaction is a second safeguard.
 */
import { fstatSync, writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'
import { SECOND } from './clock.js'
import { prettyLine } from './log_format.js'

export type { Logger } from 'pino'

const SECRETS = [
  'authorization',
  'session_token',
  'receipt_token',
  'account_number',
  'qr_payload',
  'secret',
  'signing_secret',
]

/** The settings of these names. */
interface LogSettings {
  readonly LOG_LEVEL: string
  /** Default: json. */
  readonly LOG_FORMAT?: 'json' | 'pretty'
}

/** Gets whole lines. The logger calls the flush functions before an exit. */
export interface LogDestination {
  write(line: string): unknown
  flush?(done: (error?: Error) => void): void
  flushSync?(): void
  /** Called with the number of lines that were lost, once the reader reads on. */
  onLost?(report: (lines: number) => void): void
}

/** Without a destination the lines go to standard output. */
export function createLog(
  process_: string,
  { LOG_LEVEL, LOG_FORMAT }: LogSettings,
  destination: LogDestination = standardOutput(),
): Logger {
  const lines = LOG_FORMAT === 'pretty' ? forPeople(destination) : destination
  const log = pino(
    {
      level: LOG_LEVEL,
      base: { process: process_ },
      messageKey: 'message',
      errorKey: 'error',
      formatters: { level: (level) => ({ level }) },
      serializers: { error: errorFields },
      redact: SECRETS.flatMap((name) => [name, `*.${name}`]),
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    lines,
  )
  DESTINATIONS.set(log, { destination: lines, isJson: lines === destination })
  destination.onLost?.((lost) => log.warn({ lost }, 'log lines were lost: nothing read them'))
  return log
}

const DESTINATIONS = new WeakMap<
  Logger,
  { readonly destination: LogDestination; readonly isJson: boolean }
>()

/**
 * Writes finished lines of the schema, each ending with a line feed, in one write where the format
 * allows it. The caller has checked the level.
 */
export function writeLines(log: Logger, lines: readonly string[]): void {
  const found = DESTINATIONS.get(log)
  if (found === undefined) throw new Error('broken invariant: the logger is not of createLog')
  const { destination, isJson } = found
  if (isJson) destination.write(lines.join(''))
  else for (const line of lines) destination.write(line)
}

const STANDARD_OUTPUT = 1
/** For an exit: a reader that stands still does not keep the process alive. */
const FLUSH_WITHIN_MS = 2 * SECOND
/** Lines that wait for the reader. Hours of a process that is quiet, a minute of a busy one. */
const WAITING_MAX_BYTES = 16 * 1024 * 1024

/** The supervisor reads our output. */
let isDisconnected = false
process.once('disconnect', () => {
  isDisconnected = true
})

/**
 * Whether a flush would retry for ever. A process that logs why it exits has not been told yet that
 * its supervisor ended; an empty write to the socket tells.
 */
function isReaderGone(): boolean {
  if (isDisconnected) return true
  try {
    writeSync(STANDARD_OUTPUT, '')
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'EPIPE'
  }
}

function standardOutput(): LogDestination {
  let flushUntil = Number.POSITIVE_INFINITY
  const output = pino.destination({
    sync: false,
    maxLength: WAITING_MAX_BYTES,
    retryEAGAIN: () => performance.now() < flushUntil,
  })
  const destination = Object.assign(output, { onLost: reportLost(output) })
  const flushSync = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    if (isReaderGone()) return
    flushUntil = Math.min(flushUntil, performance.now() + FLUSH_WITHIN_MS)
    try {
      flushSync()
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') throw error
    }
  }
  // A write to a full pipe blocks its thread, and the exit waits for that. As a stream the pipe
  // refuses it.
  if (fstatSync(STANDARD_OUTPUT).isFIFO()) void process.stdout
  return destination
}

type Output = ReturnType<typeof pino.destination>

/** A write can have several lines. */
const reportLost =
  (output: Output): NonNullable<LogDestination['onLost']> =>
  (report) => {
    let lost = 0
    output.on('drop', (text: string) => (lost += text.split('\n').length - 1))
    output.on('drain', () => {
      const lines = lost
      lost = 0
      if (lines > 0) report(lines)
    })
  }

const forPeople = (destination: LogDestination): LogDestination => ({
  write: (line) => destination.write(prettyLine(line)),
  flush: (done) => (destination.flush === undefined ? done() : destination.flush(done)),
  flushSync: () => destination.flushSync?.(),
})

/** Only these members: an error of a library may carry a request or credentials. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  return { type: name, message, ...('code' in error ? { code: error.code } : {}), stack }
}
