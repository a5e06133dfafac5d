/**
 * A stack of single processes over mutual TLS, without the supervisor. The gateway, the webhook
 * pool and the caller of EnsureDemo authenticate by certificate, the processor by token.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import type { DemoCredentials__Output as DemoCredentials } from '../../protos/types/causeway/operator/v1/DemoCredentials.js'
import type { ProtoGrpcType } from '../../protos/types/operator.js'
import { callerEntry } from '../../src/auth/callers.js'
import { SECOND, systemClock } from '../../src/base/clock.js'
import { CLEARTEXT, NO_LOG, openGrpcTls } from '../../src/grpc/tls.js'
import { contracts } from '../../src/grpc/contracts.js'
import { freePort } from '../../src/supervisor/ports.js'
import { storeSettings } from '../support/books.js'
import { createAuthority, writeTlsFiles } from '../support/certificates.js'
import { connectHealth, watchHealth } from '../support/grpc_health.js'
import { eventually } from '../support/eventually.js'
import { createNatsServer } from '../support/nats_server.js'
import { withKey } from '../support/partner.js'
import { demoPartner } from '../support/operators.js'
import { payByQr, payOut, requestIntent, untilStatus } from '../support/payments.js'
import { fetchOps } from '../support/raw_requests.js'
import { receiverOf } from '../support/receiver.js'
import { anIntent } from '../support/requests.js'
import { startProcess } from '../support/single_process.js'
import { tempFolder } from '../support/temp_folder.js'

const RAIL_TOKEN = 'token-of-the-processor-at-the-rail'
const ca = createAuthority()
const folder = tempFolder(t)
const [httpPort, grpcPort, railPort] = [
  await freePort('127.0.0.1'),
  await freePort('127.0.0.1'),
  await freePort('127.0.0.1'),
]
const [processorAddress, railAddress] = [`localhost:${grpcPort}`, `localhost:${railPort}`]

const tlsFiles = (name: string, authority = ca) =>
  writeTlsFiles(folder, name, authority.issue(name), ca)

/** Each process has its own folder and certificate; they share only the CA. */
function settingsOf(name: string): Record<string, string> {
  const dataDir = join(folder, name)
  mkdirSync(dataDir, { mode: 0o700 })
  return { DATA_DIR: dataDir, ...storeSettings(dataDir), ...tlsFiles(name) }
}

const busFiles = tlsFiles('nats')
const nats = await createNatsServer(join(folder, 'nats'), [
  ...['--tls', '--tlsverify', '--tlscacert', busFiles.GRPC_TLS_CA_FILE],
  ...['--tlscert', busFiles.GRPC_TLS_CERT_FILE, '--tlskey', busFiles.GRPC_TLS_KEY_FILE],
])
await nats.start()
t.teardown(() => nats.kill())
const bus = {
  NATS_URL: nats.url,
  NATS_TLS_CA_FILE: busFiles.GRPC_TLS_CA_FILE,
  NATS_TLS_CERT_FILE: busFiles.GRPC_TLS_CERT_FILE,
  NATS_TLS_KEY_FILE: busFiles.GRPC_TLS_KEY_FILE,
}

// Concurrently: no process needs another one to start.
const gateway = await startProcess(t, 'gateway/main.js', {
  ...settingsOf('gateway'),
  HTTP_PORT: String(httpPort),
  PROCESSOR_ADDRESS: processorAddress,
})
const webhooks = await startProcess(t, 'actors/webhook/main.js', {
  ...settingsOf('webhooks'),
  ...bus,
  PROCESSOR_ADDRESS: processorAddress,
  WEBHOOK_ALLOW_PRIVATE: 'true',
})
const processorSettings = settingsOf('processor')
const processor = await startProcess(t, 'src/processor/main.js', {
  ...processorSettings,
  ...bus,
  GRPC_PORT: String(grpcPort),
  RAIL_ADDRESS: railAddress,
  RAIL_TOKEN,
  CALLERS: [
    'gateway:edge:certificate:gateway',
    'webhooks:pool:certificate:webhooks',
    'supervisor:setup:certificate:operator',
  ].join(),
})
const rail = await startProcess(t, 'src/rails/sandbox/main.js', {
  ...settingsOf('rail'),
  RAIL_LISTEN: `127.0.0.1:${railPort}`,
  RAIL_DELAY_MS: '20',
  CALLERS: callerEntry('processor', 'processor', RAIL_TOKEN),
})
const all = { gateway, webhooks, processor, rail }
await Promise.all(Object.values(all).map((each) => each.untilReady()))

/** The code of a call with the certificate, and the answer. */
function ensureDemo(tls = openGrpcTls(tlsFiles('operator'), NO_LOG), address = processorAddress) {
  const { Operator } = contracts<ProtoGrpcType>().causeway.operator.v1
  const operator = new Operator(address, tls.channelCredentials(address))
  return new Promise<{ code: status; demo: DemoCredentials | undefined }>((resolve) => {
    operator.EnsureDemo({}, (fault, demo) => {
      operator.close()
      resolve({ code: fault?.code ?? status.OK, demo })
    })
  })
}

const { demo } = await ensureDemo()
const partner = demoPartner(demo!, httpPort)

t.test('payments, payouts and webhooks work across all processes', async (t) => {
  const receiver = await receiverOf(partner)
  t.teardown(() => receiver.close())
  const { id } = await payByQr(partner, 'single')
  await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
  const payout = await payOut(partner, 'single')
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
  for (const [entity, type] of [
    [id, 'payment_intent.captured'],
    [payout, 'payout.completed'],
  ] as const) {
    const { verdict } = await receiver.until(
      `${type} is delivered`,
      ({ body }) => body.includes(type) && body.includes(entity),
    )
    t.equal(verdict, 'valid')
  }
})

t.test('each process serves its own role and logs to standard output', async (t) => {
  for (const [role, { ops, output, metrics }] of Object.entries(all)) {
    t.equal((await fetchOps(ops, `/readyz?role=${role}`)).status, 200, role)
    const other = role === 'gateway' ? 'processor' : 'gateway'
    t.equal((await fetchOps(ops, `/readyz?role=${other}`)).status, 404, role)
    t.match(output(), /"message":"serving"/, role)
    const page = await metrics()
    const labels = `{certificate="GRPC_TLS_CERT_FILE",process="${role}"}`
    const [, ends] = page.split(`certificate_expiry_time_seconds${labels}`)
    t.ok(Number.parseInt(ends ?? '', 10) * SECOND > systemClock.now(), `${role}: its certificate`)
  }
  const metrics = await processor.metrics()
  t.match(metrics, 'causeway_relay_backlog')
  t.match(metrics, 'expiry_time_seconds{certificate="NATS_TLS_CERT_FILE",process="processor"} ')
})

t.test('the processor and the rail refuse callers without a certificate of the CA', async (t) => {
  const untrusted = openGrpcTls(tlsFiles('untrusted', createAuthority('another CA')), NO_LOG)
  for (const address of [processorAddress, railAddress]) {
    t.equal((await ensureDemo(CLEARTEXT, address)).code, status.UNAVAILABLE, 'in the clear')
    t.equal((await ensureDemo(untrusted, address)).code, status.UNAVAILABLE, 'another CA')
  }
  t.equal((await ensureDemo()).code, status.OK)
  for (const [name, code] of [
    ['gateway', status.PERMISSION_DENIED],
    ['nobody', status.UNAUTHENTICATED],
  ] as const) {
    t.equal((await ensureDemo(openGrpcTls(tlsFiles(name), NO_LOG))).code, code, name)
  }
})

/** The subject of the certificate that the processor presents now. */
function presented(): Promise<string> {
  const own = tlsFiles('observer')
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      ...{ host: '127.0.0.1', port: grpcPort, servername: 'localhost', ALPNProtocols: ['h2'] },
      ca: readFileSync(own.GRPC_TLS_CA_FILE),
      cert: readFileSync(own.GRPC_TLS_CERT_FILE),
      key: readFileSync(own.GRPC_TLS_KEY_FILE),
    })
    socket.on('error', reject)
    socket.on('secureConnect', () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
  })
}

t.test('a replaced certificate is used without a restart', async (t) => {
  t.equal(await presented(), 'processor')
  writeTlsFiles(
    folder,
    'processor',
    ca.issue('processor, replaced', { dnsNames: ['localhost'] }),
    ca,
  )
  await eventually('the new certificate is presented', async () => {
    return (await presented()) === 'processor, replaced'
  })
  const created = await partner.request(
    ...(['POST', '/v1/payment_intents', anIntent(), withKey('after')] as const),
  )
  t.equal(created.status, 201, 'open connections continue')
})

t.test(
  'without the bus the gateway and the processor are ready, and the pool is not',
  async (t) => {
    await nats.kill()
    await eventually('the pool is not ready', async () => !(await webhooks.isReady()))
    t.ok(await gateway.isReady())
    t.ok(await processor.isReady())
    await nats.start()
    await eventually('the pool is ready again', () => webhooks.isReady())
  },
)

t.test('on SIGTERM the gateway answers the requests in flight', async (t) => {
  process.kill(processor.pid, 'SIGSTOP')
  const answers = Array.from({ length: 20 }, (_, i) => requestIntent(partner, `drained ${i}`))
  await eventually('all requests are in flight', async () => {
    return /^causeway_gateway_commands_in_flight\{.*\} 20$/m.test(await gateway.metrics())
  })
  const exitCode = gateway.end()
  await eventually('the gateway is draining', async () => !(await gateway.isReady()))
  process.kill(processor.pid, 'SIGCONT')
  const statuses = (await Promise.all(answers)).map((answer) => answer.status)
  t.same([...new Set(statuses)], [201])
  t.equal(await exitCode, 0)
})

t.test(
  'on SIGTERM the processor reports NOT_SERVING first, and every process exits with 0',
  async (t) => {
    const client = connectHealth(processorAddress, openGrpcTls(tlsFiles('prober'), NO_LOG))
    t.teardown(() => client.close())
    const probe = watchHealth(client, '')
    await eventually('the processor is serving', () => probe.seen.length > 0)
    const exitCode = processor.end()
    await eventually('the watch has ended', () => probe.ends.length > 0)
    t.same(probe.seen, ['SERVING', 'NOT_SERVING'])
    t.equal(await exitCode, 0)
    for (const each of [webhooks, rail]) t.equal(await each.end(), 0, each.output())
  },
)
