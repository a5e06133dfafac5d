/**
 * The gateway over TLS, with a certificate of nobody that names localhost.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { startGateway } from './running_gateway.js'

const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUCeDmuBZmsjz9AdDu6RfbCqToSnYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA1MzcwNVoYDzIxMjYxMDI4
MDUzNzA1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT61CJiH/ssnS+z7CJnWfJcbNYYYDDmN2M5cnZOYqg0Om8ZeMUMEs9c
DjMAw3XrCIfIE7X1jDtCntw1aESneNDio28wbTAdBgNVHQ4EFgQUkZbKI9MNjxwx
8rV9dPdxPnYzkIUwHwYDVR0jBBgwFoAUkZbKI9MNjxwx8rV9dPdxPnYzkIUwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgU1YnjRtIUAXRkqnk5G0wDwLVI93Bhy53eN0WDkb1ErQCIQC8
54jdGWTHfsmnrjlEwtDsV8oScz6cw3N6Sd0SNhCP/Q==
-----END CERTIFICATE-----
`
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmbeBWrRZxKH0/3gy
71q4acPNlAoNHIdpVKkhgLLUrbGhRANCAAT61CJiH/ssnS+z7CJnWfJcbNYYYDDm
N2M5cnZOYqg0Om8ZeMUMEs9cDjMAw3XrCIfIE7X1jDtCntw1aESneNDi
-----END PRIVATE KEY-----
`

async function startSecure(t: Test): Promise<number> {
  const folder = t.testdir({})
  const certFile = join(folder, 'cert.pem')
  const keyFile = join(folder, 'key.pem')
  writeFileSync(certFile, CERTIFICATE)
  writeFileSync(keyFile, KEY)
  const { port } = await startGateway(t, {
    environment: { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile },
  })
  return port
}

function secured(port: number, options: ConnectionOptions = {}): TLSSocket {
  return connect({ port, host: '127.0.0.1', ca: CERTIFICATE, ...options })
}

void t.test('TLS 1.2 and later are spoken, older ones are not', async (t) => {
  const port = await startSecure(t)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = secured(port, { minVersion: version, maxVersion: version })
    await once(socket, 'secureConnect')
    t.equal(socket.getProtocol(), version)
    socket.write('GET /nowhere HTTP/1.1\r\nHost: api.localhost\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    t.match(answer.toString(), /^HTTP\/1\.1 404 /)
    socket.destroy()
  }
  const old = secured(port, {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    // The client's own security level would refuse these before the server could.
    ciphers: 'DEFAULT:@SECLEVEL=0',
  })
  await t.rejects(once(old, 'secureConnect'), { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
})

void t.test('files that are no certificate stop the start with their names', async (t) => {
  const folder = t.testdir({ 'cert.pem': 'x', 'key.pem': 'y' })
  const start = startGateway(t, {
    environment: {
      TLS_CERT_FILE: join(folder, 'cert.pem'),
      TLS_KEY_FILE: join(folder, 'key.pem'),
    },
  })
  await t.rejects(start, { message: /cert\.pem and .*key\.pem can not be used/ })
})
