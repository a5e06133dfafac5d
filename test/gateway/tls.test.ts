/** The gateway over TLS, with a self-signed certificate for localhost. */
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import t from 'tap'
import { createAuthority } from '../support/certificates.js'
import { eventually } from '../support/eventually.js'
import { MODERN_SUITES, negotiated, NO_COMMON_SUITE, WEAK_SUITES } from '../support/tls_suites.js'
import { CERTIFICATE, certificateFiles } from './certificate.js'
import { bytesOf, createRequest, roundTrip, statusOf } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

function secured(port: number, options: ConnectionOptions = {}): TLSSocket {
  return connect({ port, host: '127.0.0.1', ca: CERTIFICATE, ...options })
}

/** The response over TLS, until the connection closes. */
function answerTo(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = secured(port)
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}

void t.test('TLS 1.2 and later are accepted, older versions are not', async (t) => {
  const { port } = await startGateway(t, { environment: certificateFiles(t.testdir({})) })
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = secured(port, { minVersion: version, maxVersion: version })
    await once(socket, 'secureConnect')
    t.equal(socket.getProtocol(), version)
    socket.write('GET /nowhere HTTP/1.1\r\nHost: api.localhost\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    t.match(answer.toString(), /^HTTP\/1\.1 404 /)
    socket.destroy()
  }
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    const old = secured(port, {
      minVersion: version,
      maxVersion: version,
      // Otherwise the client's own security level rejects these before the server can.
      ciphers: 'DEFAULT:@SECLEVEL=0',
    })
    await t.rejects(once(old, 'secureConnect'), { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
  }
})

for (const keyType of ['rsa', undefined] as const) {
  const kind = keyType === 'rsa' ? 'RSA' : 'ECDSA'
  void t.test(`TLS 1.2 with an ${kind} certificate: ECDHE with AEAD only`, async (t) => {
    const ca = createAuthority()
    const { certificate, key } = ca.issue('api', keyType === undefined ? {} : { keyType })
    const folder = t.testdir({ 'cert.pem': certificate, 'key.pem': key })
    const { port } = await startGateway(t, {
      environment: {
        TLS_CERT_FILE: join(folder, 'cert.pem'),
        TLS_KEY_FILE: join(folder, 'key.pem'),
      },
    })
    const client = { ca: ca.certificate }
    for (const modern of MODERN_SUITES) {
      const suite = `ECDHE-${kind}-${modern}`
      t.equal(await negotiated(port, suite, client), suite)
    }
    for (const [what, suites] of Object.entries(WEAK_SUITES)) {
      for (const suite of suites) {
        const outcome = await negotiated(port, suite, client)
        t.match(outcome, NO_COMMON_SUITE, `${what}: ${suite}`)
      }
    }
  })
}

void t.test('a signed request is served over TLS, plain HTTP is not', async (t) => {
  const { port, processorStub } = await startGateway(t, {
    environment: certificateFiles(t.testdir({})),
  })
  t.equal(statusOf(await answerTo(port, bytesOf(createRequest()))), 201)
  t.equal(processorStub.commands[0]?.operation, 'create_intent')
  const { text } = await roundTrip(port, bytesOf(createRequest()), 2_000)
  t.equal(text, '', 'plain HTTP gets no answer')
  t.equal(processorStub.commands.length, 1)
})

void t.test('the connection limit counts unfinished handshakes', async (t) => {
  const environment = certificateFiles(t.testdir({}))
  const { port } = await startGateway(t, { environment, connectionsMax: 6 })
  const silent = Array.from({ length: 6 }, () => connectPlain(port, '127.0.0.1'))
  t.teardown(() => {
    for (const socket of silent) socket.destroy()
  })
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  await eventually('one more is rejected', async () => {
    return statusOf(await answerTo(port, bytesOf(createRequest()))) === 429
  })
  const rejected = await Promise.all(
    Array.from({ length: 100 }, () => answerTo(port, bytesOf(createRequest()))),
  )
  t.ok(rejected.includes(''), 'connections above the limit are closed without a handshake')
  for (const socket of silent) socket.destroy()
  await eventually('connections are accepted again', async () => {
    return statusOf(await answerTo(port, bytesOf(createRequest()))) === 201
  })
})

void t.test('invalid certificate files stop the start and are named', async (t) => {
  const folder = t.testdir({ 'cert.pem': 'x', 'key.pem': 'y' })
  const start = startGateway(t, {
    environment: {
      TLS_CERT_FILE: join(folder, 'cert.pem'),
      TLS_KEY_FILE: join(folder, 'key.pem'),
    },
  })
  await t.rejects(start, { message: /cert\.pem and .*key\.pem cannot be used/ })
})
