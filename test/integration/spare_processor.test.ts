/**
 * Processors of one cluster as processes: a spare takes over the shard of a processor that is
 * killed, paused or stopped. Each take-over's duration is in the output.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { status, type ServiceError } from '@grpc/grpc-js'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import type { OperatorClient } from '../../protos/types/causeway/operator/v1/Operator.js'
import type { ReplyBatch__Output as ReplyBatch } from '../../protos/types/causeway/internal/v1/ReplyBatch.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import type { ProtoGrpcType as ControlProto } from '../../protos/types/webhook_control.js'
import { createProcessors } from '../../gateway/upstream/processors.js'
import { callerEntry } from '../../src/auth/callers.js'
import { bearer } from '../../src/grpc/bearer.js'
import { EXIT_BOOKS_BEHIND } from '../../src/process/child.js'
import { systemClock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { newId, type EventId } from '../../src/base/ids.js'
import { contracts } from '../../src/grpc/contracts.js'
import { systemRandom } from '../../src/base/random.js'
import { FILES } from '../../src/base/subjects.js'
import { freePort } from '../../src/supervisor/ports.js'
import {
  says,
  startClusterProcesses,
  untilCandidate,
  type ProcessorProcess,
} from '../support/cluster_processes.js'
import { eventually } from '../support/eventually.js'
import { createProxies } from '../cluster/partitions.js'
import { SILENT_LOG } from '../support/logs.js'
import { operatorCli, type OperatorCli, printed, refused } from '../support/operator_cli.js'
import { requirePostgres } from '../support/postgres_server.js'
import { isServing, readPage, requestPage, signIn } from '../console/stack.js'
import { startProcess } from '../support/single_process.js'

requirePostgres(t)

const quiet = SILENT_LOG
const EXIT_DEPOSED = 71
const EXIT_RECOVER = 70
const [SETUP, OPERATOR] = [
  'token-of-setup-of-these-tests-only-1',
  'token-of-an-operator-of-these-tests-1',
]
const [POOL, GATEWAY] = ['token-of-a-pool', 'token-of-a-gateway']
const { folder, postgres, dataDirOf, start } = await startClusterProcesses(t, [
  callerEntry('supervisor', 'setup', SETUP),
  callerEntry('operator', 'anna', OPERATOR),
  callerEntry('webhooks', 'pool', POOL),
  callerEntry('gateway', 'gateway', GATEWAY),
])

interface Answered {
  readonly code: status
  /** The processor that the trailer names. */
  readonly elsewhere: string | undefined
}

const answeredBy = (error: ServiceError | null): Answered => {
  const [elsewhere] = error?.metadata.get('causeway-processor') ?? []
  return { code: error?.code ?? status.OK, elsewhere: elsewhere?.toString() }
}

/** The control stream of a webhook pool. */
function aPoolAt({ address }: ProcessorProcess) {
  const { WebhookControl } = contracts<ControlProto>().causeway.internal.v1
  const client = new WebhookControl(address, CLEARTEXT.channelCredentials(address))
  return client.Connect(bearer(POOL)).on('error', () => client.close())
}

/** One call to the service of operators. */
function called(
  { address }: ProcessorProcess,
  call: (operator: OperatorClient, done: (error: ServiceError | null) => void) => unknown,
): Promise<Answered> {
  const { Operator } = contracts<OperatorProto>().causeway.operator.v1
  const client = new Operator(address, CLEARTEXT.channelCredentials(address))
  return new Promise((resolve) =>
    call(client, (error) => {
      client.close()
      resolve(answeredBy(error))
    }),
  )
}

function createPartner(at: ProcessorProcess, partner_id: string): Promise<Answered> {
  const request = { actor: { name: '', reason: 'a test' }, partner_id }
  return called(at, (client, done) => client.CreatePartner(request, bearer(OPERATOR), done))
}

const ensureDemo = (at: ProcessorProcess): Promise<Answered> =>
  called(at, (client, done) => client.EnsureDemo({}, bearer(SETUP), done))

/** The operator CLI for this processor. */
function cliAt({ name, address }: ProcessorProcess): OperatorCli {
  const dataDir = dataDirOf(name)
  const tokenFile = join(folder, 'operator.token')
  writeFileSync(tokenFile, OPERATOR, { mode: 0o600 })
  const sandbox = { grpc_address: address, serves_production: false }
  writeFileSync(join(dataDir, FILES.sandbox), JSON.stringify(sandbox), { mode: 0o600 })
  return operatorCli(dataDir, tokenFile)
}

const readiness = ({ run }: ProcessorProcess) => run.readyz()

/** Resolves when one of them serves, and writes a comment with the time it took. */
async function untilTaken(
  t: Test,
  what: string,
  candidates: readonly ProcessorProcess[],
): Promise<ProcessorProcess> {
  const since = performance.now()
  const owner = await eventually(what, async () => {
    for (const each of candidates) if (await each.run.isReady()) return each
    return undefined
  })
  t.comment(`${what}: ${((performance.now() - since) / 1_000).toFixed(2)} s`)
  return owner
}

let first = await start('p1', { CLUSTER: 'member', SHARD: 'books_1' })
await first.run.untilReady()
let second = await start('p2', { CLUSTER: 'member', SHARD: 'books_2' })
const spare = await start('p3', { CLUSTER: 'spare' })
await second.run.untilReady()
await untilCandidate(spare)

t.test('readiness names the shard of each processor, and a spare is not ready', async (t) => {
  const of = { ready: true, mode: 'normal', epoch: 1 }
  t.match(await readiness(first), { ...of, processor: 'p1', shard: 'books_1' })
  t.match(await readiness(second), { ...of, processor: 'p2', shard: 'books_2' })
  t.match(await readiness(spare), {
    ...{ status: 503, ready: false, mode: 'candidate', processor: 'p3' },
  })
  await says(spare, 'candidate: waiting for a shard')
})

t.test('a partner is created in one shard only', async (t) => {
  t.equal((await createPartner(first, 'acme')).code, status.OK)
  const elsewhere = await createPartner(second, 'acme')
  t.match(elsewhere, { code: status.FAILED_PRECONDITION, elsewhere: first.address })
  t.equal((await createPartner(first, 'acme')).code, status.INVALID_ARGUMENT, 'the partner exists')
  t.equal((await createPartner(second, 'globex')).code, status.OK)
  t.equal((await ensureDemo(second)).code, status.OK)
  t.match(await ensureDemo(first), {
    code: status.FAILED_PRECONDITION,
    elsewhere: second.address,
  })
})

t.test('a processor that cannot listen does not wait for a shard', async (t) => {
  const taken = await start('p7', { CLUSTER: 'spare' }, Number(second.address.split(':')[1]))
  await eventually('it has ended', () => taken.run.output().includes('cannot listen on'))
  t.equal(await taken.run.ended, 1)
  t.notMatch(taken.run.output(), 'candidate: waiting for a shard')
})

t.test('the shard of a killed processor is taken over', async (t) => {
  await first.run.end('SIGKILL')
  const owner = await untilTaken(t, 'kill -9 of a processor until a spare serves', [spare])
  t.match(await readiness(owner), { processor: 'p3', shard: 'books_1', epoch: 2 })
  t.equal(
    (await createPartner(spare, 'acme')).code,
    status.INVALID_ARGUMENT,
    'the spare has the partner',
  )
  t.match(await createPartner(second, 'acme'), { elsewhere: spare.address })
})

t.test('a killed processor restarts as a candidate and takes over from a paused one', async (t) => {
  const again = await start('p1', { CLUSTER: 'member', SHARD: 'books_1' })
  await untilCandidate(again)
  process.kill(spare.run.pid, 'SIGSTOP')
  await untilTaken(t, 'a silent processor until another one serves', [again])
  t.match(await readiness(again), { shard: 'books_1', epoch: 3 })
  const ended = spare.run.end('SIGCONT')
  t.equal(await ended, EXIT_DEPOSED, 'the paused processor is fenced when it resumes')
  t.ok(await again.run.isReady())
  first = again
})

t.test('an operator moves a shard to a waiting processor', async (t) => {
  const next = await start('p3', { CLUSTER: 'spare' })
  await untilCandidate(next)
  const ops = cliAt(second)
  t.match(
    await ops.out('shard list'),
    /books_1 +p1 .* owned\nbooks_2 +p2 .* owned\n\nwaiting [^\n]*\np3 [^\n]* any shard\n/,
  )
  const busy = await ops('shard move books_1 --to p2', '--reason', 'a test')
  t.match(busy, refused(/^processor_not_waiting/))
  t.match(
    await ops('shard move books_9 --to p3', '--reason', 'a test'),
    refused(/^shard_not_found/),
  )
  t.equal((await ops('shard move books_1 --to p3')).exitCode, 2, 'without a reason')
  const gateway = createProcessors({
    ...{ tls: CLEARTEXT, metadata: bearer(GATEWAY), clock: systemClock, log: quiet },
  })
  t.teardown(() => gateway.close())
  gateway.setAddresses([second.address])
  const routes = () => gateway.states().map(({ address, shard }) => `${address} ${shard}`)
  const allFound = [`${first.address} books_1`, `${second.address} books_2`, `${next.address} `]
  await eventually('a gateway with one address finds all processors', () =>
    allFound.every((each) => routes().includes(each)),
  )

  const moving = ops('shard move books_1 --to p3', '--reason', 'more memory')
  await eventually('the owner drains', async () => !(await first.run.isReady()))
  await untilTaken(t, 'drain of a processor until the named processor serves', [next])
  const { exitCode, out, err } = await moving
  t.equal(exitCode, 0, err)
  t.match(out, `books_1 is served by p3, epoch 4, at ${next.address}`)
  t.equal(await first.run.ended, EXIT_DEPOSED, 'the former owner exits to restart as a candidate')
  const { data } = (await ops.json('shard list')) as { data: readonly object[] }
  t.match(data[0], { shard: 'books_1', processor: 'p3', connected: true, partners: 1, moves: '1' })
  await eventually('the gateway has the next owner', () =>
    gateway.states().some(({ address, shard, up }) => {
      return up && address === next.address && shard === 'books_1'
    }),
  )
  t.equal((await createPartner(next, 'acme')).code, status.INVALID_ARGUMENT)
  const { out: log } = await ops('actions')
  t.match(log, /anna .*move_shard .*books_1 from p1 to p3/)
  first = next
})

t.test('the console shows the shards, and moves one', async (t) => {
  const again = await start('p1', { CLUSTER: 'spare' })
  await untilCandidate(again)
  const port = await freePort('127.0.0.1')
  const url = `http://127.0.0.1:${port}`
  await startProcess(t, 'src/console/main.js', {
    ...{ PROCESSORS: [first.address, second.address].join(), CONSOLE_PORT: String(port) },
  })
  await eventually('the console serves', () => isServing(url))
  const cookie = await signIn({ url, token: OPERATOR })
  const page = async (): Promise<string> => (await readPage(`${url}/shards`, cookie)).text
  const before = await page()
  t.match(before, /books_1<\/strong>[^]*owned[^]*p3[^]*books_2<\/strong>[^]*owned[^]*p2/)
  const [, form_token = ''] = /name="form_token" value="([^"]+)"/.exec(before) ?? []
  const move = async (shard: string, to: string, reason = 'a test'): Promise<string> => {
    await requestPage(`${url}/do/move-shard`, {
      ...{ method: 'POST', headers: { cookie, origin: url } },
      form: { shard, to, reason, back: '/shards', form_token },
    })
    return page()
  }
  t.match(await move('books_1', 'p2'), /class="notice bad"[^]*No processor of that name waits/)
  t.match(await move('books_9', 'p1'), 'class="notice bad"')
  t.match(await move('books_1', 'p1', ''), 'A change needs a reason.')
  t.match(await move('books_1', 'p1'), 'books_1 moves to p1.')
  await untilTaken(t, 'a move in the console until the named processor serves', [again])
  t.equal(await first.run.ended, EXIT_DEPOSED)
  first = again
})

t.test('a spare takes a shard that an operator creates', async (t) => {
  const next = await start('p5', { CLUSTER: 'spare' })
  await untilCandidate(next)
  const ops = cliAt(second)
  const created = await ops('shard create books_3', '--reason', 'a test')
  t.match(created.out, /books_3 +- .* new/)
  await untilTaken(t, 'shard create until a spare serves it', [next])
  t.match(await readiness(next), { processor: 'p5', shard: 'books_3', epoch: 1 })
  t.equal((await createPartner(next, 'initech')).code, status.OK)
  t.match(await createPartner(second, 'initech'), { elsewhere: next.address })
})

t.test(
  'a candidate exits on a signal, and the shard of a stopped owner is taken over',
  async (t) => {
    const next = await start('p6', { CLUSTER: 'spare' })
    const other = await start('p4', { CLUSTER: 'spare' })
    await Promise.all([untilCandidate(next), untilCandidate(other)])
    t.equal(await other.run.end(), 0)
    const ended = second.run.end()
    await untilTaken(t, 'SIGTERM of a processor until a spare serves', [next])
    t.equal(await ended, 0)
    t.match(await readiness(next), { shard: 'books_2', epoch: 2 })
    t.equal((await createPartner(next, 'globex')).code, status.INVALID_ARGUMENT)
    second = next
  },
)

t.test('an owner that cannot apply a setting takes no writes until it is skipped', async (t) => {
  const connection = new Client({ connectionString: postgres.url })
  await connection.connect()
  t.teardown(() => connection.end())
  await connection.query(`INSERT INTO cluster.settings
      (version, at, kind, key, value, actor, reason)
      SELECT coalesce(max(version), 0) + 1, 1, 'of_a_later_version', 'k', 'v', 'ann', 'a test'
    FROM cluster.settings`)
  const held = (each: ProcessorProcess) => (): Promise<boolean> =>
    readiness(each).then(
      ({ ready, settings_fault: fault }) => ready === false && fault !== undefined,
    )
  await eventually('the owner is not ready', held(second))
  const next = await start('p8', { CLUSTER: 'spare' })
  await untilCandidate(next)
  const ended = second.run.end('SIGKILL')
  await eventually('neither is the next owner', held(next))
  await ended
  second = next
  t.match(await readiness(next), {
    ...{ status: 503, shard: 'books_2', settings_fault: { cause: 'invalid_request' } },
  })
  await says(next, 'a setting cannot be applied: writes are refused')
  const ops = cliAt(next)
  const list = await ops('shard list')
  const line = /NO WRITES: books_2 cannot apply settings version (\d+) \(of_a_later_version k\)/
  const [, version = ''] = line.exec(list.out) ?? []
  t.comment(list.out)
  const metrics = await next.run.metrics()
  t.match(metrics, /^causeway_shard_settings_fault\{shard="books_2".*\} 1$/m)
  t.match(await ops('settings skip 99 --reason x'), { err: /^setting_not_blocked/ })
  const skipped = await ops('settings skip', version, '--reason', 'made by mistake')
  t.match(skipped, printed('shards that cannot apply it pass it over'))
  await eventually('it serves', () => next.run.isReady())
  t.notMatch(await ops.out('shard list'), 'NO WRITES: books_2')
  t.match(await ops.out('actions'), /anna .*skip_setting .*version/)
})

t.test('an owner that is cut off from the gateways gives its shard up', async (t) => {
  const proxies = createProxies()
  t.teardown(() => proxies.close())
  /** A spare that gateways reach through a proxy. */
  const startBehindProxy = async (name: string, port: number): Promise<ProcessorProcess> => {
    const address = await proxies.route('gateway', name, `127.0.0.1:${port}`)
    const run = await start(name, { CLUSTER: 'spare', GRPC_ADVERTISE: address }, port)
    await untilCandidate(run)
    return run
  }
  const port = await freePort('127.0.0.1')
  const owner = await startBehindProxy('processor-1', port)
  const ops = cliAt(first)
  const move = ['shard', 'move', 'books_2', '--to', owner.name, '--reason', 'a test']
  t.equal((await ops(...move)).exitCode, 0)
  const next = await startBehindProxy('processor-2', await freePort('127.0.0.1'))
  const gateway = createProcessors({
    ...{ tls: CLEARTEXT, metadata: bearer(GATEWAY), clock: systemClock, log: quiet },
  })
  t.teardown(() => gateway.close())
  gateway.setAddresses([first.address])
  await eventually('the gateway is connected', () =>
    gateway.states().some(({ up, shard }) => up && shard === 'books_2'),
  )
  await eventually('both know it', async () => {
    const [serving, waiting] = [await readiness(owner), await readiness(next)]
    return serving['gateways'] === 1 && waiting['gateways'] === 1
  })
  await eventually('operators see it', async () =>
    /^processor-2 +127.0.0.1:\d+ +1 +any shard$/m.test((await ops('shard list')).out),
  )

  const since = performance.now()
  proxies.cut('gateway', owner.name)
  t.equal(await owner.run.ended, EXIT_DEPOSED)
  await untilTaken(t, 'the shard is taken over', [next])
  await eventually('the gateway reaches the next owner', () =>
    gateway.shards().every(({ routed }) => routed),
  )
  t.comment(`cut until served: ${((performance.now() - since) / 1_000).toFixed(2)} s`)
  t.match(owner.run.output(), 'the shard is given up: no gateway reaches this owner')
  await eventually('the next owner counts the gateway', async () => {
    const { shard, gateways } = await readiness(next)
    return shard === 'books_2' && gateways === 1
  })

  const former = await start('processor-1', { CLUSTER: 'spare' }, port)
  await untilCandidate(former)
  gateway.close()
  await eventually('no gateway is left', async () => (await readiness(next))['gateways'] === 0)
  t.match(await readiness(former), { mode: 'candidate', gateways: 0 })
  const metrics = await next.run.metrics()
  t.match(metrics, /^causeway_shard_gateways\{shard="books_2".*\} 0$/m)
  t.match(metrics, /^causeway_shard_unreached\{shard="books_2".*\} 0$/m)
  t.equal(await former.run.end(), 0)
  proxies.heal()
  second = next
})

t.test('books that are behind a webhook pool alone send nothing to the rail', async (t) => {
  const newest = newId<EventId>('event', systemClock.now(), systemRandom())
  const pool = aPoolAt(second)
  t.teardown(() => pool.cancel())
  const greet = (tenant: string): void =>
    void pool.write({ number: 0, greeting: { pool: 1, newest_event: newest, tenant } })
  greet('acme_sandbox') // of the other shard
  greet('') // A pool that does not report its tenant.
  t.equal((await createPartner(second, 'umbrella')).code, status.OK, 'it serves after both')
  greet('globex_sandbox')
  await eventually('submissions are stopped', async () => {
    const { mode, shard } = await readiness(second)
    return mode === 'submissions_stopped' && shard === 'books_2'
  })
  const cause = `webhook pool 1 has event ${newest}, which the books do not`
  await says(second, cause)
  t.equal((await createPartner(second, 'hooli')).code, status.OK, 'writes are accepted')
})

/** The command stream of a gateway. */
function aGatewayAt({ address }: ProcessorProcess) {
  const { CommandStream } = contracts<CommandStreamProto>().causeway.internal.v1
  const client = new CommandStream(address, CLEARTEXT.channelCredentials(address))
  return client.Open(bearer(GATEWAY)).on('error', () => client.close())
}

t.test('an owner that lacks a commit that was answered ends with 78', async (t) => {
  const gateway = aGatewayAt(second)
  const replies: ReplyBatch[] = []
  gateway.on('data', (batch: ReplyBatch) => replies.push(batch))
  const command = (ticket: number): object => ({
    ...{ ticket, tenant: 'globex_sandbox', budget_ms: 30_000, consume_nonce_only: true },
    signed_by: { key_id: 'unknown', nonce: Buffer.alloc(32, ticket) },
  })
  gateway.write({ commands: [command(1)] })
  await eventually('a reply names a commit', () => replies.some(({ mark }) => mark !== null))
  const { mark } = replies.find((each) => each.mark !== null)!
  t.match(mark, { shard: 'books_2' })

  const marks = [{ ...mark!, shard: 'books_1', batch: '999999' }, mark!]
  gateway.write({ marks, commands: [command(2)] })
  await eventually('it serves on', () => replies.some((each) => each.replies[0]?.ticket === 2))
  const candidate = await start('p10', { CLUSTER: 'spare' })
  await untilCandidate(candidate)
  const lost = { ...mark!, batch: String(Number(mark!.batch) + 100) }
  gateway.write({ marks: [lost] })
  t.equal(await second.run.ended, EXIT_BOOKS_BEHIND)
  t.match(
    second.run.output(),
    /The books went back in time: the books end [0-9]+ commits behind a g/,
  )

  await untilTaken(t, 'the books are taken over', [candidate])
  const next = aGatewayAt(candidate)
  next.write({ marks: [lost] })
  t.equal(await candidate.run.ended, EXIT_BOOKS_BEHIND, 'the next owner likewise')
})

t.test('a candidate that loses the database server ends with 70', async (t) => {
  const candidate = await start('p11', { CLUSTER: 'spare' })
  await untilCandidate(candidate)
  await postgres.kill()
  t.equal(await candidate.run.ended, EXIT_RECOVER)
  t.match(candidate.run.output(), 'PostgreSQL does not answer')
})
