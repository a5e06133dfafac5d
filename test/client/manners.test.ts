/** Answers, cancellation, agents, proxies, hooks and polling of the TypeScript client. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import {
  AbortedError,
  createClient,
  NotFoundError,
  responseOf,
  VERSION,
  type Attempt,
  type Client,
  type ClientOptions,
} from '../../src/client/index.js'
import { certificateFiles } from '../gateway/certificate.js'
import { eventually } from '../support/eventually.js'
import { listen } from '../support/listen.js'
import { PAYOUT, scriptedService, type Script, type ScriptedService } from './scripted_service.js'

const service = (t: Test, script: Script): Promise<ScriptedService> =>
  scriptedService(t, script, { 'x-request-id': 'req_1' })

t.test('a result has the details of its answer, and stays a plain object', async (t) => {
  const { clientOf } = await service(t, (_request, number) =>
    number === 1
      ? { status: 503, body: {} }
      : { status: 202, body: { id: 'p' }, headers: { 'idempotent-replayed': 'false' } },
  )
  const payout = await clientOf().payouts.create(PAYOUT, { idempotencyKey: 'k' })
  t.strictSame(payout, { id: 'p' })
  t.match(responseOf(payout), {
    ...{ status: 202, requestId: 'req_1', replayed: false, idempotencyKey: 'k', attempts: 2 },
    headers: { 'idempotent-replayed': 'false' },
  })
  t.throws(() => responseOf({}), TypeError)
})

t.test('a refused signature has advice: the clock, or in the sandbox the check', async (t) => {
  const NOW = Date.parse('2026-11-21T04:35:40Z')
  const headers = { date: new Date(NOW).toUTCString() }
  const error = { code: 'authentication_failed', message: 'Authentication failed.' }
  const { baseUrl, clientOf } = await service(t, () => ({ status: 401, body: { error }, headers }))
  const messageFrom = (client: Client) =>
    client.account().then(
      () => 'no error',
      (thrown: unknown) => String(thrown),
    )
  const signedBy = (keyId: string) =>
    createClient({ baseUrl, keyId, secret: 'sk' }, { now: () => NOW })
  for (const [client, advice] of [
    [clientOf({ now: () => NOW - 600_000 }), " Your clock is 600 s behind the service's."],
    [clientOf({ now: () => NOW + 301_000 }), " Your clock is 301 s ahead of the service's."],
    [signedBy('a_sandbox_2026q4'), ' client.sandbox.checkSignature() tells why.'],
    [signedBy('a_production_2026q4'), ''],
  ] as const) {
    const text = `401 authentication_failed: Authentication failed.${advice} (req_1)`
    t.equal(await messageFrom(client), `AuthenticationError: ${text}`)
  }
  const session = clientOf({ now: () => 0 }).session('token')
  await t.rejects(session.get('pi_1'), { message: /failed\. \(req_1\)$/ })
})

t.test('what no request can be sent with is refused at once, by its name', async (t) => {
  const given = { baseUrl: 'http://127.0.0.1', keyId: 'a', secret: 'sk' }
  const throws = (wrong: object, message: string) =>
    t.throws(() => createClient({ ...given, ...wrong }), new TypeError(message))
  throws({ secret: undefined }, 'secret is missing')
  throws({ keyId: '' }, 'keyId is missing')
  throws({ baseUrl: 'localhost:8080' }, 'not an http or https address: "localhost:8080"')
  throws({ baseUrl: undefined }, 'not an http or https address: undefined')
})

t.test('an error has the headers of its answer', async (t) => {
  const { clientOf } = await service(t, () => ({ status: 404, body: {}, headers: { via: 'x' } }))
  const error = await clientOf()
    .payouts.get('p')
    .catch((thrown: unknown) => thrown)
  t.type(error, NotFoundError)
  t.match(error, { requestId: 'req_1', headers: { via: 'x' } })
})

t.test('a signal ends a call: during an attempt, between two, and before', async (t) => {
  const { baseUrl, requests } = await service(t, (_request, number) =>
    number === 1 ? 'stay silent' : { status: 503 },
  )
  const aborted = async (options: ClientOptions, abort: AbortController): Promise<unknown> =>
    createClient({ baseUrl, keyId: 'a', secret: 'sk' }, options)
      .payouts.create(PAYOUT, { idempotencyKey: 'k', signal: abort.signal })
      .catch((thrown: unknown) => thrown)
  const during = new AbortController()
  const ended = aborted({}, during)
  while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
  during.abort()
  t.match(await ended, { name: 'AbortedError', idempotencyKey: 'k' })

  const between = new AbortController()
  const onAttempt = () => between.abort()
  const slept = await aborted({ onAttempt }, between)
  t.type(slept, AbortedError)
  t.equal(requests.length, 2, 'it is not retried')
  t.type(await aborted({}, between), AbortedError)
  t.equal(requests.length, 2, 'an aborted signal sends nothing')
})

t.test('each attempt is reported', async (t) => {
  const attempts: Attempt[] = []
  const { clientOf } = await service(t, (_request, number) =>
    number === 1 ? { status: 503, body: {} } : { status: 200, body: { id: 'p' } },
  )
  const onAttempt = (attempt: Attempt): void => void attempts.push(attempt)
  await clientOf({ onAttempt, random: () => 0.5 }).payouts.create(PAYOUT)
  const shared = { method: 'POST', path: '/v1/payouts', requestId: 'req_1', error: undefined }
  t.match(attempts, [
    { ...shared, number: 1, status: 503, retryInMs: 225, idempotencyKey: /./ },
    { ...shared, number: 2, status: 200, retryInMs: undefined },
  ])
  t.ok(attempts.every(({ durationMs }) => durationMs >= 0))
})

t.test('requests name the version of the package', async (t) => {
  const file = readFileSync(join(projectRoot(), 'src/client/package.json'), 'utf8')
  t.equal(VERSION, (JSON.parse(file) as { version: string }).version)
  const { clientOf, requests } = await service(t, () => ({ status: 200, body: {} }))
  await clientOf().payouts.get('p')
  await clientOf({ userAgent: 'shop/2.0' }).payouts.get('p')
  const own = `causeway-client/${VERSION} node/${process.versions.node}`
  t.same(
    requests.map(({ headers }) => headers['user-agent']),
    [own, `${own} shop/2.0`],
  )
})

t.test('an agent of the caller is used', async (t) => {
  const { clientOf } = await service(t, () => ({ status: 200, body: {} }))
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  await clientOf({ agent }).payouts.get('p')
  t.equal(Object.keys(agent.freeSockets).length, 1, 'it keeps the connection')
})

t.test('an idle connection is closed before the service closes it', async (t) => {
  const server = createServer((_request, response) => response.end('{}'))
  server.keepAliveTimeout = 60_000
  const closed = new Promise((resolve) =>
    server.once('connection', (socket) => socket.once('close', resolve)),
  )
  const baseUrl = `http://127.0.0.1:${await listen(t, server)}`
  await createClient({ baseUrl, keyId: 'a', secret: 'sk' }).payouts.get('p')
  await closed
})

/** A proxy that wants credentials. It forwards to `127.0.0.1`, whatever host it is asked for. */
async function proxy(t: Test) {
  const seen: string[] = []
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    headers['proxy-authorization'] === `Basic ${Buffer.from('u:p@').toString('base64')}`
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.writeHead(isAllowed(request) ? 200 : 407).end('{"id":"by proxy"}')
  })
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`)
    if (!isAllowed(request)) return socket.end('HTTP/1.1 407 No\r\n\r\n')
    const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    for (const end of [socket, upstream]) end.on('error', () => upstream.destroy())
    return upstream.on('close', () => socket.destroy())
  })
  const port = await listen(t, server)
  return { url: `http://u:p%40@127.0.0.1:${port}`, anonymous: `http://127.0.0.1:${port}`, seen }
}

t.test('an http address is requested from the proxy', async (t) => {
  const { url, seen } = await proxy(t)
  const baseUrl = 'http://service.example:81'
  const client = createClient({ baseUrl, keyId: 'a', secret: 'sk' }, { proxy: url })
  t.match(await client.payouts.get('p'), { id: 'by proxy' })
  t.same(seen, ['GET http://service.example:81/v1/payouts/p'])
})

t.test('an https address is reached through a tunnel', async (t) => {
  const files = certificateFiles(t.testdir())
  const [key, cert] = [readFileSync(files.TLS_KEY_FILE), readFileSync(files.TLS_CERT_FILE)]
  const hosts: (string | undefined)[] = []
  const server = createTlsServer({ key, cert }, (request, response) => {
    hosts.push(request.headers.host)
    response.end('{"id":"by tunnel"}')
  })
  const port = await listen(t, server)
  const { url, anonymous, seen } = await proxy(t)
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
  })
  const credentials = { baseUrl: `https://service.example:${port}`, keyId: 'a', secret: 'sk' }
  const client = createClient(credentials, { proxy: url })
  for (let time = 0; time < 2; time++) t.match(await client.payouts.get('p'), { id: 'by tunnel' })
  t.same(seen, [`CONNECT service.example:${port}`], 'the tunnel is kept')
  t.same(hosts, [`service.example:${port}`, `service.example:${port}`])
  const refused = createClient(credentials, { proxy: anonymous, retry: { attempts: 1 } })
  await t.rejects(refused.payouts.get('p'), { message: /the proxy answered 407/ })
})

t.test('a proxy that never opens its tunnel ends the call', async (t) => {
  const server = createServer()
  const ended: Promise<unknown>[] = []
  server.on('connection', (socket) => void ended.push(once(socket, 'close')))
  server.on('connect', (_request, socket) => void socket.resume().on('end', () => socket.destroy()))
  const port = await listen(t, server)
  const credentials = { baseUrl: 'https://service.example', keyId: 'a', secret: 'sk' }
  const options = { proxy: `http://127.0.0.1:${port}`, retry: { attempts: 1 } }
  const hasty = createClient(credentials, { ...options, timeoutMs: 100 })
  await t.rejects(hasty.payouts.get('p'), { message: /no complete answer in 100 ms/ })
  const patient = createClient(credentials, { ...options, timeoutMs: 3_600_000 })
  await t.rejects(patient.payouts.get('p', { timeoutMs: 100 }), { message: /in 100 ms/ })
  const aborted = patient.payouts.get('p', { signal: AbortSignal.timeout(100) })
  await t.rejects(aborted, AbortedError)
  await eventually('the proxy has seen each connection', () => ended.length === 3)
  await Promise.all(ended)
  t.equal(ended.length, 3, 'no connection to the proxy stays')
})

t.test('a payout and an intent are polled until they are final', async (t) => {
  const { clientOf, pauses } = await service(t, (_request, number) => ({
    status: 200,
    body: { status: ['created', 'processing', 'completed', 'authorized', 'captured'][number - 1] },
  }))
  const client = clientOf({ random: () => 0.5 })
  t.match(await client.payouts.poll('p'), { status: 'completed' })
  t.match(await client.paymentIntents.poll('i'), { status: 'captured' })
  t.same(pauses, [1_000, 1_500, 2_250, 1_000, 1_500])
})
