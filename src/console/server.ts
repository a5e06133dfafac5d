/**
 * The HTTP server of the console: plain, or with TLS.
 *
 * - With a CA of operators' certificates a browser is asked for one, and may come without: whether
 *   it is verified is read per connection (session/certificate).
 * - The files are read again every few seconds; new connections use the new ones. Files that do not
 *   match, as in the middle of a replacement, change nothing.
 */
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import { SECOND } from '../base/clock.js'
import { isLoopback } from '../base/network.js'
import type { Settings } from '../settings/settings.js'
import { SettingsError } from '../settings/settings_reader.js'
import { NODE_CIPHERS } from '../base/tls_ciphers.js'

const HEADERS_WITHIN_MS = 10 * SECOND
const REQUEST_WITHIN_MS = 30 * SECOND
const READ_EVERY_MS = 5 * SECOND

type TlsSettings = Pick<
  Settings,
  'CONSOLE_HOST' | 'CONSOLE_TLS_CERT_FILE' | 'CONSOLE_TLS_KEY_FILE' | 'CONSOLE_CLIENT_CA_FILE'
>

interface TlsLog {
  info(facts: object, text: string): void
  error(facts: object, text: string): void
}

/** @throws SettingsError when tokens would cross a network in the clear, or a file is unusable */
export function createConsoleServer(
  settings: TlsSettings,
  listener: RequestListener,
  log: TlsLog,
): Server {
  const { CONSOLE_HOST, CONSOLE_TLS_CERT_FILE, CONSOLE_CLIENT_CA_FILE } = settings
  const isPlain = CONSOLE_TLS_CERT_FILE === ''
  if (isPlain && CONSOLE_CLIENT_CA_FILE !== '') {
    throw new SettingsError('CONSOLE_CLIENT_CA_FILE needs CONSOLE_TLS_CERT_FILE')
  }
  if (isPlain && !isLoopback(CONSOLE_HOST)) {
    throw new SettingsError(
      `CONSOLE_HOST=${CONSOLE_HOST} is not a loopback address: tokens would cross the network ` +
        'in the clear. Set CONSOLE_TLS_CERT_FILE, or reach the console through a proxy with TLS ' +
        '(CONSOLE_HOSTS) or a tunnel.',
    )
  }
  const server = isPlain ? createServer(listener) : tlsServer(settings, listener, log)
  server.headersTimeout = HEADERS_WITHIN_MS
  server.requestTimeout = REQUEST_WITHIN_MS
  return server
}

function tlsServer(settings: TlsSettings, listener: RequestListener, log: TlsLog): Server {
  let used = filesOf(settings)
  const server = createTlsServer(
    {
      ...used,
      ...{ minVersion: 'TLSv1.2', ciphers: NODE_CIPHERS },
      ...{ requestCert: used.ca !== undefined, rejectUnauthorized: false },
    },
    listener,
  )
  let fault = ''
  const readAgain = (): void => {
    try {
      const found = filesOf(settings)
      fault = ''
      if (JSON.stringify(found) === JSON.stringify(used)) return
      server.setSecureContext(found)
      used = found
      log.info({}, 'new console certificate')
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (text !== fault) log.error({ error: text }, 'console certificate not replaced')
      fault = text
    }
  }
  setInterval(readAgain, READ_EVERY_MS).unref()
  return server
}

interface TlsFiles {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

/** @throws SettingsError when one cannot be read, or they do not match */
function filesOf(settings: TlsSettings): TlsFiles {
  const ca = settings.CONSOLE_CLIENT_CA_FILE
  try {
    const files = {
      cert: readFileSync(settings.CONSOLE_TLS_CERT_FILE, 'utf8'),
      key: readFileSync(settings.CONSOLE_TLS_KEY_FILE, 'utf8'),
      ...(ca === '' ? {} : { ca: readFileSync(ca, 'utf8') }),
    }
    createSecureContext(files)
    return files
  } catch (error) {
    throw new SettingsError(
      `The CONSOLE_TLS_… files or CONSOLE_CLIENT_CA_FILE cannot be used: ${String(error)}`,
    )
  }
}
