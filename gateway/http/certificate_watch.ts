/**
 * Reads the certificate of the partner API and its key again every few seconds.
 *
 * - A new pair is reported once it can be used. A pair that cannot be, as in the middle of a
 *   replacement, changes nothing: it is logged once and read again at the next check.
 */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { SECOND } from '../../src/base/clock.js'
import type { Logger } from '../../src/base/log.js'
import type { TlsFiles } from './server.js'

export interface CertificateWatch {
  stop(): void
}

export interface CertificateWatchOptions {
  readonly files: TlsFiles
  /** Uses the new pair. @throws Error when it cannot be used */
  readonly onChange: () => Promise<void>
  /** Whether the files, as of the last check, are in use. */
  readonly onChecked: (isInUse: boolean) => void
  readonly log: Logger
  readonly everyMs?: number | undefined
}

const EVERY_MS = 5 * SECOND

/** @throws Error when a file cannot be read */
export function watchCertificate(options: CertificateWatchOptions): CertificateWatch {
  const { files, onChange, onChecked, log, everyMs = EVERY_MS } = options
  let used = [readFileSync(files.certFile), readFileSync(files.keyFile)] as const
  let fault = ''
  let checking: Promise<void> | undefined

  const check = async (): Promise<void> => {
    try {
      const found = await Promise.all([readFile(files.certFile), readFile(files.keyFile)])
      const [cert, key] = found
      if (!cert.equals(used[0]) || !key.equals(used[1])) {
        createSecureContext({ cert, key }) // throws if one is not PEM, or they do not match
        await onChange()
        used = found
        log.info({}, 'new HTTP certificate')
      }
      fault = ''
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (text !== fault) log.error({ error: text }, 'HTTP certificate not replaced')
      fault = text
    }
    onChecked(fault === '')
  }

  const timer = setInterval(() => {
    checking ??= check().finally(() => (checking = undefined))
  }, everyMs)
  return { stop: () => clearInterval(timer) }
}
