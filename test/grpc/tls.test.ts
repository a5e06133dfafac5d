/** Mutual TLS of gRPC: accepted peers, and certificates that are replaced while in use. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { Metadata, status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { configuredCaller, createCallers } from '../../src/auth/callers.js'
import { bearer } from '../../src/grpc/bearer.js'
import { systemClock } from '../../src/base/clock.js'
import { GRPC_CONNECTIONS_MAX } from '../../src/base/constants.js'
import { CLEARTEXT, openGrpcTls, type GrpcTls, type TlsSettings } from '../../src/grpc/tls.js'
import { createAuthority, writeTlsFiles, type Pair } from '../support/certificates.js'
import { eventually } from '../support/eventually.js'
import { MODERN_SUITES, negotiated, NO_COMMON_SUITE, WEAK_SUITES } from '../support/tls_suites.js'
import { Rail, serveRail, TOKEN } from './rail_server.js'

const RELOAD_MS = 20
const OWN_CONNECTION = { 'grpc.use_local_subchannel_pool': 1 }

const ca = createAuthority()
const otherAuthority = createAuthority('another CA')

function party(t: Test, name: string, pair: Pair, trusts = ca) {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-tls-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const log: string[] = []
  const write = (text: string) => (_facts: object, line: string) => void log.push(`${text} ${line}`)
  const replace = (next: Pair): TlsSettings => writeTlsFiles(folder, name, next, trusts)
  const tls = openGrpcTls(replace(pair), { info: write('info'), error: write('error') }, RELOAD_MS)
  return { tls, replace, log }
}

async function serve(t: Test, tls: GrpcTls) {
  /** Common names of the clients, in the order of their calls. */
  const seen: string[] = []
  const see: Parameters<typeof serveRail>[1] = (call) =>
    seen.push(String(call.getAuthContext().sslPeerCertificate?.subject.CN))
  const { port } = await serveRail(t, see, { tls })
  return { address: `localhost:${port}`, seen }
}

/** A server, and a client with a certificate of this name. */
async function connected(t: Test, name = 'gateway') {
  const server = party(t, 'server', ca.issue('processor'))
  const served = await serve(t, server.tls)
  return { ...served, server, client: party(t, 'client', ca.issue(name)) }
}

/** The status of one call on a connection of its own. */
function call(address: string, tls: GrpcTls, token = TOKEN): Promise<status> {
  const options = { ...OWN_CONNECTION, ...tls.channelOptions(address) }
  const client = new Rail(address, tls.channelCredentials(address), options)
  const metadata = token === '' ? new Metadata() : bearer(token)
  return new Promise((resolve) => {
    client.Describe({}, metadata, (fault) => {
      client.close()
      resolve(fault?.code ?? status.OK)
    })
  })
}

t.test('a certificate of the CA is required, and does not replace a credential', async (t) => {
  const { address, seen, client } = await connected(t)
  t.equal(await call(address, client.tls), status.OK)
  t.same(seen, ['gateway'])
  t.equal(await call(address, client.tls, 'it_theirs'), status.UNAUTHENTICATED)

  const past = { notAfter: new Date(Date.now() - 1_000) }
  const refused: Readonly<Record<string, GrpcTls>> = {
    'in the clear': CLEARTEXT,
    'a certificate of another CA': party(t, 'other', otherAuthority.issue('gateway')).tls,
    'an expired certificate': party(t, 'expired', ca.issue('gateway', past)).tls,
    'a client that trusts another CA': party(t, 'trusts', ca.issue('gateway'), otherAuthority).tls,
  }
  for (const [what, tls] of Object.entries(refused)) {
    t.equal(await call(address, tls), status.UNAVAILABLE, what)
  }
  const elsewhere = party(t, 'else', ca.issue('processor', { dnsNames: ['elsewhere'] }))
  const other = await serve(t, elsewhere.tls)
  t.equal(await call(other.address, client.tls), status.UNAVAILABLE, 'a server of another name')
  t.same(seen, ['gateway'], 'no other call reached the handler')
})

t.test(
  'a client connects to a server certificate for an IP address without a warning',
  async (t) => {
    const warnings: unknown[] = []
    const warn = (warning: Error): void => void warnings.push(warning)
    process.on('warning', warn)
    t.teardown(() => process.off('warning', warn))
    const { address, seen, client } = await connected(t)
    const byAddress = address.replace('localhost', '127.0.0.1')
    t.equal(await call(byAddress, client.tls), status.OK)
    const elsewhere = party(t, 'else', ca.issue('processor', { addresses: ['127.0.0.2'] }))
    const other = await serve(t, elsewhere.tls)
    const named = other.address.replace('localhost', '127.0.0.1')
    t.equal(await call(named, client.tls), status.UNAVAILABLE, 'a server of another address')
    t.same(seen, ['gateway'])
    t.same(warnings, [])
  },
)

t.test('a client certificate is read once for each connection', async (t) => {
  const server = party(t, 'server', ca.issue('processor'))
  const callers = createCallers(
    [configuredCaller('processor:books:certificate:processor_2')],
    systemClock,
  )
  const { port } = await serveRail(t, undefined, { tls: server.tls, callers })
  const address = `localhost:${port}`
  const client = party(t, 'client', ca.issue('processor_2'))
  const stub = new Rail(address, client.tls.channelCredentials(address), OWN_CONNECTION)
  t.teardown(() => stub.close())
  const described = (): Promise<status> =>
    new Promise((resolve) => stub.Describe({}, (fault) => resolve(fault?.code ?? status.OK)))
  t.equal(await described(), status.OK)
  const { prototype } = TLSSocket
  const read = t.capture(prototype, 'getPeerCertificate', prototype.getPeerCertificate)
  for (let i = 0; i < 5; i++) t.equal(await described(), status.OK)
  t.equal(read().length, 0, 'on an open connection')
  const other = party(t, 'other', ca.issue('processor_3'))
  t.equal(
    await call(address, other.tls, ''),
    status.UNAUTHENTICATED,
    'each connection has the name of its own certificate',
  )
})

t.test('a replaced certificate is used by new connections', async (t) => {
  const { server, address, seen, client } = await connected(t, 'before')
  t.equal(await call(address, client.tls), status.OK)
  client.replace(ca.issue('after'))
  await eventually('the client presents the new certificate', async () => {
    await call(address, client.tls)
    return seen.at(-1) === 'after'
  })

  server.replace(ca.issue('processor', { dnsNames: ['elsewhere'] }))
  await eventually('the server presents the new certificate', async () => {
    return (await call(address, client.tls)) === status.UNAVAILABLE
  })
  server.replace(ca.issue('processor'))
  await eventually(
    'a valid certificate replaces the broken one',
    async () => (await call(address, client.tls)) === status.OK,
  )
  t.ok(server.log.includes('info new gRPC certificate'))
})

t.test('files that do not fit together change nothing', async (t) => {
  const { server, address, client } = await connected(t)
  const { certificate } = ca.issue('processor')
  const files = server.replace({ certificate, key: ca.issue('processor').key })
  await eventually('the fault is logged', () =>
    server.log.includes('error gRPC certificate not replaced'),
  )
  t.equal(await call(address, client.tls), status.OK)
  t.throws(() => openGrpcTls(files, { info: () => 0, error: () => 0 }), /cannot be used.*mismatch/)
  writeFileSync(files.GRPC_TLS_CA_FILE, 'no PEM')
  t.throws(() => openGrpcTls(files, { info: () => 0, error: () => 0 }), /cannot be used/)
})

t.test('unfinished handshakes are bounded', async (t) => {
  const { address, client } = await connected(t)
  const port = Number(address.split(':')[1])
  const idle = Array.from({ length: GRPC_CONNECTIONS_MAX + 5 }, () =>
    connect({ host: '127.0.0.1', port }),
  )
  t.teardown(() => idle.forEach((socket) => socket.destroy()))
  let closed = 0
  for (const socket of idle) {
    socket.on('error', () => undefined)
    socket.resume()
    socket.on('close', () => (closed += 1))
  }
  await eventually('the oldest are closed', () => closed >= 5)
  t.equal(await call(address, client.tls), status.OK)
})

t.test('addresses beyond loopback require TLS', async (t) => {
  const allowed = ['127.0.0.1:1', 'localhost:1', '[::1]:1', 'unix:/run/p.sock']
  for (const address of allowed) {
    t.ok(CLEARTEXT.serverCredentials(address), address)
    t.ok(CLEARTEXT.channelCredentials(address), address)
  }
  for (const address of ['0.0.0.0:1', '[::]:1', '10.0.0.1:1', 'processor.internal:1']) {
    const refusal = /not allowed without GRPC_TLS_CERT_FILE/
    t.throws(() => CLEARTEXT.serverCredentials(address), refusal, address)
    t.throws(() => CLEARTEXT.channelCredentials(address), refusal, address)
  }
})

t.test('TLS 1.2 is ECDHE with AEAD only, also with a replaced certificate', async (t) => {
  const rsa = { keyType: 'rsa' } as const
  const { tls, replace, log } = party(t, 'server', ca.issue('server', rsa))
  const { address } = await serve(t, tls)
  const port = Number(address.split(':').at(-1))
  const own = ca.issue('client')
  const client = { ca: ca.certificate, cert: own.certificate, key: own.key, ALPNProtocols: ['h2'] }
  const check = async (): Promise<void> => {
    for (const modern of MODERN_SUITES) {
      const suite = `ECDHE-RSA-${modern}`
      t.equal(await negotiated(port, suite, client), suite)
    }
    for (const [what, suites] of Object.entries(WEAK_SUITES)) {
      for (const suite of suites) {
        const outcome = await negotiated(port, suite, client)
        t.match(outcome, NO_COMMON_SUITE, `${what}: ${suite}`)
      }
    }
  }
  await check()
  replace(ca.issue('server', rsa))
  await eventually('the new certificate', () => log.length > 0)
  await check()
})
