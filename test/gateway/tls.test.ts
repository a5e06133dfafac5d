/** The gateway over TLS, with a self-signed certificate for localhost. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { freePort } from '../../src/supervisor/ports.js'
import { createAuthority } from '../support/certificates.js'
import { eventually } from '../support/eventually.js'
import { MODERN_SUITES, negotiated, NO_COMMON_SUITE, WEAK_SUITES } from '../support/tls_suites.js'
import { CERTIFICATE, certificateFiles } from './certificate.js'
import { head } from './echo_server.js'
import { openClient } from './open_client.js'
import { bytesOf, createRequest, roundTrip, statusOf } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

function secured(port: number, options: ConnectionOptions = {}): TLSSocket {
  return connect({ port, host: '127.0.0.1', ca: CERTIFICATE, ...options })
}

/** The start of the answer to a request of an unknown path. */
async function statusLineOf(socket: TLSSocket): Promise<string> {
  socket.write(head('GET /nowhere'))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  return answer.toString().slice(0, 12)
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

t.test('TLS 1.2 and later are accepted, older versions are not', async (t) => {
  const { port } = await startGateway(t, { environment: certificateFiles(t.testdir({})) })
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = secured(port, { minVersion: version, maxVersion: version })
    await once(socket, 'secureConnect')
    t.equal(socket.getProtocol(), version)
    t.equal(await statusLineOf(socket), 'HTTP/1.1 404')
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
  t.test(`TLS 1.2 with an ${kind} certificate: ECDHE with AEAD only`, async (t) => {
    const ca = createAuthority()
    const pair = ca.issue('api', keyType === undefined ? {} : { keyType })
    const { port } = await startGateway(t, { environment: certificateFiles(t.testdir({}), pair) })
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

t.test('a signed request is served over TLS, plain HTTP is not', async (t) => {
  const { port, processorStub } = await startGateway(t, {
    environment: certificateFiles(t.testdir({})),
  })
  t.equal(statusOf(await answerTo(port, bytesOf(createRequest()))), 201)
  t.equal(processorStub.commands[0]?.operation, 'create_intent')
  const { text } = await roundTrip(port, bytesOf(createRequest()), 2_000)
  t.equal(text, '', 'plain HTTP gets no answer')
  t.equal(processorStub.commands.length, 1)
})

t.test('the connection limit counts unfinished handshakes', async (t) => {
  const environment = certificateFiles(t.testdir({}))
  const { port } = await startGateway(t, { environment, connectionsMax: 6 })
  const silent = Array.from({ length: 6 }, () => openClient(t, port).socket)
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

t.test('invalid certificate files stop the start and are named', async (t) => {
  const environment = certificateFiles(t.testdir({}), { certificate: 'x', key: 'y' })
  await t.rejects(startGateway(t, { environment }), {
    message: /cert\.pem and .*key\.pem cannot be used/,
  })
})

/** A gateway that looks for new certificates, and the number of its log lines with a text. */
async function watchingGateway(t: Test, files: Record<string, string>, certificateCheckMs: number) {
  const lines: string[] = []
  const gateway = await startGateway(t, {
    ...{ environment: files, certificateCheckMs, port: await freePort('127.0.0.1') },
    onLogLine: (line) => lines.push(line),
  })
  const logged = (text: string): number => lines.filter((line) => line.includes(text)).length
  return { ...gateway, logged }
}

t.test('a new certificate is used by new connections, and open ones go on', async (t) => {
  const [first, second] = [createAuthority('first'), createAuthority('second')]
  const pairs = [first.issue('api'), second.issue('api')] as const
  const files = certificateFiles(t.testdir({}), pairs[0])
  const { port, metrics, logged } = await watchingGateway(t, files, 20)
  const opened = async (ca: string): Promise<TLSSocket> => {
    const socket = secured(port, { ca, servername: 'localhost' })
    await once(socket, 'secureConnect')
    return socket
  }
  const isServedBy = async (ca: string): Promise<boolean> =>
    opened(ca).then(
      (socket) => (socket.destroy(), true),
      () => false,
    )
  const inUse = async (): Promise<string | undefined> =>
    /^causeway_http_certificate_in_use (\d)$/m.exec(await metrics())?.[1]

  const open = await opened(first.certificate)
  writeFileSync(files.TLS_CERT_FILE, pairs[1].certificate) // its key is still the other one
  await eventually('a fault', async () => (await inUse()) === '0')
  t.equal(logged('HTTP certificate not replaced'), 1)
  t.equal(await isServedBy(first.certificate), true, 'the former pair is still used')
  writeFileSync(files.TLS_CERT_FILE, 'no certificate')
  await eventually('another fault', () => logged('HTTP certificate not replaced') === 2)
  t.equal(await isServedBy(first.certificate), true)

  writeFileSync(files.TLS_KEY_FILE, pairs[1].key)
  writeFileSync(files.TLS_CERT_FILE, pairs[1].certificate)
  await eventually('the new certificate', () => isServedBy(second.certificate))
  t.equal(await isServedBy(first.certificate), false, 'the former listener is closed')
  t.equal(await statusLineOf(open), 'HTTP/1.1 404', 'an open connection goes on')
  await eventually('no fault', async () => (await inUse()) === '1')
  t.equal(logged('new HTTP certificate'), 1)
  open.destroy()
})

t.test('connections are served while certificates are replaced', async (t) => {
  const ca = createAuthority()
  const pairs = [ca.issue('api'), ca.issue('api')] as const
  const files = certificateFiles(t.testdir({}), pairs[0])
  const { port, logged } = await watchingGateway(t, files, 5)
  const replaced = (): number => logged('new HTTP certificate')
  const outcomes: string[] = []
  let isDone = false
  const client = async (): Promise<void> => {
    while (!isDone) outcomes.push(await outcomeOf(port, ca.certificate))
  }
  const clients = [1, 2, 3, 4].map(client)
  for (let round = 1; round <= 6; round += 1) {
    const { certificate, key } = pairs[round % 2]!
    const before = replaced()
    writeFileSync(files.TLS_CERT_FILE, certificate)
    writeFileSync(files.TLS_KEY_FILE, key)
    await eventually('a new certificate', () => replaced() > before)
  }
  isDone = true
  await Promise.all(clients)
  // Without this setting the kernel resets connections that wait at the listener that closes.
  const migrates = readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim() === '1'
  t.same(
    outcomes.filter((each) => each !== 'HTTP/1.1 404' && (migrates || each !== 'ECONNRESET')),
    [],
  )
  t.ok(outcomes.filter((each) => each === 'HTTP/1.1 404').length > 6)
})

/** The status line of an answer over a new connection, or the code of its error. */
function outcomeOf(port: number, ca: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = secured(port, { ca, servername: 'localhost' })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.on('close', () => resolve('closed'))
    socket.on('data', (answer: Buffer) => {
      resolve(answer.toString().slice(0, 12))
      socket.destroy()
    })
    socket.write(head('GET /nowhere'))
  })
}
