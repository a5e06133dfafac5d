/**
 * The logger: JSON lines on stdout.
 *
 * - Bodies, QR payloads, account numbers, tokens and secrets are never passed to a logger;
 *   redaction is a second safeguard.
 */
import { pino, type Logger } from 'pino'
import type { Settings } from './settings.js'

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

/** The supervisor reads our output. A flush at exit would retry a closed pipe for ever. */
let isReaderGone = false
process.once('disconnect', () => {
  isReaderGone = true
})

export function createLog(process_: string, settings: Pick<Settings, 'LOG_LEVEL'>): Logger {
  const destination = pino.destination({ sync: false })
  const flushSync = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    if (!isReaderGone) flushSync()
  }
  return pino(
    {
      level: settings.LOG_LEVEL,
      base: { process: process_ },
      redact: SECRETS.flatMap((name) => [name, `*.${name}`]),
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}
