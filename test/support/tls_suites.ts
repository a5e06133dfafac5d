/** Which TLS 1.2 cipher suites a server accepts. */
import { connect, type ConnectionOptions } from 'node:tls'

export const MODERN_SUITES = [
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'CHACHA20-POLY1305',
] as const

/** By what a server must not accept them for; of OpenSSL at its lowest security level. */
export const WEAK_SUITES = {
  'plain RSA': ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'AES128-SHA256', 'AES256-SHA'],
  CBC: ['ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES128-SHA256', 'ECDHE-RSA-AES256-SHA384'],
  'CBC with ECDSA': ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384'],
  'finite-field DH': ['DHE-RSA-AES128-GCM-SHA256', 'DHE-RSA-AES256-GCM-SHA384'],
} as const

/** The code of the error when a server accepts no suite; OpenSSL 3.5 has another name for it. */
export const NO_COMMON_SUITE = /^ERR_SSL_SSL(V3|\/TLS)_ALERT_HANDSHAKE_FAILURE$/

/** @returns the suite of the connection, or the code of the error */
export function negotiated(
  port: number,
  suite: string,
  options: ConnectionOptions,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({
      ...{ port, host: '127.0.0.1', ...options },
      ...{ maxVersion: 'TLSv1.2', ciphers: `${suite}:@SECLEVEL=0` },
    })
    socket.on('secureConnect', () => {
      resolve(socket.getCipher().name)
      socket.destroy()
    })
    socket.on('error', ({ message, code }: NodeJS.ErrnoException) => resolve(code ?? message))
  })
}
