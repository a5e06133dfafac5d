/**
 * Older books restored into an empty DATA_DIR, while the rail is away: nothing is written before it
 * answers. It is ahead of the books, so recovery mode begins; after the release what partners
 * repeat is held, and nothing is paid twice. Then the rail comes back with an older journal.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { FILES } from '../../src/base/subjects.js'
import { freePort } from '../../src/supervisor/ports.js'
import { assertCleanAudit } from '../support/audit.js'
import { SHARD_FILE, shardOf, storeSettings } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { createNatsServer, type NatsServer } from '../support/nats_server.js'
import { operatorCli } from '../support/operator_cli.js'
import type { HttpAnswer } from '../support/partner.js'
import { demoPartnerAt } from '../support/operators.js'
import { idIn, requestPayout, untilStatus } from '../support/payments.js'
import { executedAt, instructionsAt, writeStatement } from '../support/rail_journal.js'
import { payeeOf } from '../support/requests.js'
import { saveBooks } from '../support/saved_books.js'
import { startProcess, type SingleProcess } from '../support/single_process.js'
import { tempFolder } from '../support/temp_folder.js'

t.setTimeout(0)
const top = t
const WITHIN_MS = 60_000
const [SETUP, OPERATOR, RAIL, EDGE] = [
  'token-of-setup------------------',
  'token-of-an-operator------------',
  'token-at-the-rail---------------',
  'token-of-the-gateway------------',
] as const
const BECAUSE = ['--reason', 'the older copy was restored']
/** The sandbox bank accepts it and never executes it. */
const NEVER_EXECUTED = '9990000008'

const folder = tempFolder(t)
const folderOf = (name: string): string => {
  const dataDir = join(folder, name)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  return dataDir
}
const [railDir, newestDir, restoredDir] = [
  folderOf('rail'),
  folderOf('newest'),
  folderOf('restored'),
]
writeFileSync(join(restoredDir, SHARD_FILE), shardOf(newestDir))
const [railPort, grpcPort, httpPort] = [
  await freePort('127.0.0.1'),
  await freePort('127.0.0.1'),
  await freePort('127.0.0.1'),
]
const processorAddress = `127.0.0.1:${grpcPort}`

async function startNats(name: string): Promise<NatsServer> {
  const nats = await createNatsServer(join(folder, name))
  await nats.start()
  top.teardown(() => nats.kill())
  return nats
}

const startRail = (): Promise<SingleProcess> =>
  startProcess(top, 'src/rails/sandbox/main.js', {
    DATA_DIR: railDir,
    RAIL_LISTEN: `127.0.0.1:${railPort}`,
    RAIL_DELAY_MS: '20',
    CALLERS: callerEntry('processor', 'processor', RAIL),
  })

const startProcessor = (dataDir: string, nats: NatsServer): Promise<SingleProcess> =>
  startProcess(top, 'src/processor/main.js', {
    ...storeSettings(dataDir),
    DATA_DIR: dataDir,
    MASTER_KEY_FILE: join(folder, FILES.masterKey),
    GRPC_PORT: String(grpcPort),
    RAIL_ADDRESS: `127.0.0.1:${railPort}`,
    RAIL_TOKEN: RAIL,
    NATS_URL: nats.url,
    CALLERS: [
      callerEntry('supervisor', 'setup', SETUP),
      callerEntry('operator', 'anna', OPERATOR),
      callerEntry('gateway', 'edge', EDGE),
    ].join(),
  })

const startGateway = (): Promise<SingleProcess> =>
  startProcess(top, 'gateway/main.js', {
    DATA_DIR: folderOf('gateway'),
    HTTP_PORT: String(httpPort),
    PROCESSOR_ADDRESS: processorAddress,
    PROCESSOR_TOKEN: EDGE,
  })

interface Readiness {
  readonly mode?: string
  /** Absent while it starts. */
  readonly rails?: Readonly<Record<string, string>>
}

const readinessOf = (run: SingleProcess): Promise<Readiness> => run.readyz().catch(() => ({}))

const modeOf = async (run: SingleProcess): Promise<unknown> => (await readinessOf(run)).mode

const untilRail = (run: SingleProcess, state: RegExp): Promise<unknown> =>
  eventually(
    `the rail is ${state}`,
    async () => state.test((await readinessOf(run)).rails?.['sandbox'] ?? ''),
    WITHIN_MS,
  )

/** The rail is stopped. */
function copyJournal(from: string, to: string): void {
  const isJournal = (name: string): boolean => name.startsWith('rail')
  for (const name of readdirSync(to).filter(isJournal)) rmSync(join(to, name))
  for (const name of readdirSync(from).filter(isJournal)) {
    copyFileSync(join(from, name), join(to, name))
  }
}

const untilMode = (run: SingleProcess, mode: string): Promise<unknown> =>
  eventually(`mode ${mode}`, async () => (await modeOf(run)) === mode, WITHIN_MS)

const executed = (): Promise<readonly string[]> => executedAt(railDir)

const operatorToken = join(folder, FILES.operatorToken)
writeFileSync(operatorToken, OPERATOR, { mode: 0o600 })
const sandbox = { grpc_address: processorAddress, serves_production: false }
writeFileSync(join(restoredDir, FILES.sandbox), JSON.stringify(sandbox), { mode: 0o600 })
const ops = operatorCli(restoredDir, operatorToken)

const nats = await startNats('nats')
let rail = await startRail()
let processor = await startProcessor(newestDir, nats)
let gateway = await startGateway()
await Promise.all([rail, processor, gateway].map((each) => each.untilReady()))
const partner = await demoPartnerAt(processorAddress, SETUP, httpPort)

const LOST = ['lost 1', 'lost 2', 'lost 3', 'accepted']

/** The same request with the same key each time. */
const payOut = (key: string): Promise<HttpAnswer> =>
  requestPayout(partner, key, {
    reference: `invoice ${key}`,
    ...(key === 'accepted' ? { beneficiary: payeeOf(NEVER_EXECUTED) } : {}),
  })

async function paidOut(key: string): Promise<string> {
  const answer = await eventually(`${key} is taken`, async () => {
    const given = await payOut(key).catch(() => undefined)
    return given !== undefined && given.status < 300 && given
  })
  const id = idIn(answer)
  if (key !== 'accepted') await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
  return id
}

/** What partners repeat until the release is refused, each time. */
const refusals: HttpAnswer[] = []
async function repeatLost(): Promise<void> {
  for (const key of LOST) {
    const answer = await payOut(key).catch(() => undefined)
    if (answer !== undefined) refusals.push(answer)
  }
}

t.test('older books in an empty folder, and a rail that comes late', async (t) => {
  const before = await paidOut('before')
  t.equal(await processor.end(), 0)
  const older = saveBooks(newestDir)

  processor = await startProcessor(newestDir, nats)
  await processor.untilReady()
  for (const key of LOST) await paidOut(key)
  await eventually('the rail has them', async () => {
    const all = await instructionsAt(railDir, 'SELECT id FROM instructions')
    const paid = await executed()
    return all.length === 1 + LOST.length && paid.length === LOST.length
  })
  t.equal(await processor.end(), 0)
  t.equal(await rail.end(), 0)
  const paid = await executed()
  t.ok(paid.includes(before))
  await older.restore(restoredDir)
  t.notOk(existsSync(join(restoredDir, FILES.highWater)), 'the folder has no mark')

  // A gateway that goes on running has a mark of its own.
  t.equal(await gateway.end(), 0)
  gateway = await startGateway()

  const emptyNats = await startNats('empty_nats')
  processor = await startProcessor(restoredDir, emptyNats)
  await t.test('nothing is written before the rail answers', async (t) => {
    await untilMode(processor, 'unverified')
    await eventually('reads are answered', async () => {
      const { status } = await partner.request('GET', `/v1/payouts/${before}`)
      return status === 200
    })
    await repeatLost()
    t.equal(refusals.length, LOST.length)
    const list = await partner.request('GET', '/v1/payouts')
    t.match(list.body, { data: [{ id: before }] })
    t.equal((list.body as { data: unknown[] }).data.length, 1)
    t.match(await ops.out('recovery show'), /writes are refused until one of them verifies/)
  })

  await t.test('the rail is ahead, so recovery mode begins', async (t) => {
    rail = await startRail()
    let hasEnded = false
    const ended = processor.ended.finally(() => (hasEnded = true))
    while (!hasEnded) await Promise.all([repeatLost(), modeOf(processor)])
    t.equal(await ended, 0, 'it restarts into recovery mode')
    processor = await startProcessor(restoredDir, emptyNats)
    await untilMode(processor, 'recovery')
    await repeatLost()
    t.match(await ops.out('recovery show'), /The books never sent|which the books never sent/)
    const isRefused = ({ status, text }: HttpAnswer): boolean =>
      status === 503 && /configuration_error|service_unavailable|overloaded/.test(text)
    t.same(
      refusals.filter((answer) => !isRefused(answer)).map(({ status, text }) => [status, text]),
      [],
      `${refusals.length} repeated calls were refused`,
    )
    t.same(await executed(), paid, 'nothing was sent to the rail')
  })

  await t.test('the release holds what partners repeat', async (t) => {
    const statement = await writeStatement(railDir, join(folder, 'statement.csv'))
    const release = ['recovery', 'release', '--statement', statement, '--yes', ...BECAUSE]
    const { exitCode, out, err } = await ops(...release)
    t.equal(exitCode, 0, err)
    t.match(out, `${LOST.length} orphan executions are recorded`)
    t.equal(await processor.ended, 0, 'it restarts')
    processor = await startProcessor(restoredDir, emptyNats)
    await untilMode(processor, 'normal')
    t.ok(existsSync(join(restoredDir, FILES.highWater)), 'the release leaves a mark')

    const held = new Map<string, string>()
    for (const key of LOST) {
      const id = await eventually(`${key} is taken`, async () => {
        const answer = await payOut(key).catch(() => undefined)
        return answer !== undefined && answer.status < 300 && idIn(answer)
      })
      t.match(await partner.request('GET', `/v1/payouts/${id}`), { body: { status: 'created' } })
      held.set(`invoice ${key}`, id)
    }
    const other = await paidOut('another one')
    t.same(await executed(), [...paid, other].sort(), 'only the new one is paid')
    const { data } = (await ops.json('recovery orphans')) as {
      data: readonly { instruction_id: string; reference: string; state: string }[]
    }
    for (const { instruction_id: id, reference, state } of data) {
      const how =
        state === 'executed' ? ['--match', held.get(reference) ?? ''] : (['--dismiss'] as const)
      const decided = await ops('recovery resolve', id, ...how, '--evidence', 'line', ...BECAUSE)
      t.equal(decided.exitCode, 0, decided.err)
    }
    t.same(data.map(({ state }) => state).sort(), ['accepted', 'executed', 'executed', 'executed'])
    t.same(await executed(), [...paid, other].sort(), 'matching pays nothing')
  })

  await t.test('an older journal is not used before an operator accepts it', async (t) => {
    const [older, newest] = [folderOf('older_journal'), folderOf('newest_journal')]
    t.equal(await rail.end(), 0)
    copyJournal(railDir, older)
    rail = await startRail()
    await paidOut('not in the copy')
    t.equal(await rail.end(), 0)
    copyJournal(railDir, newest)

    copyJournal(older, railDir)
    rail = await startRail()
    await untilRail(processor, /^its journal is an older one/)
    t.equal(await processor.end(), 0)
    processor = await startProcessor(restoredDir, emptyNats)
    await untilRail(processor, /^its journal is an older one/)
    const { exitCode, err } = await ops('submissions pause --rail sandbox', ...BECAUSE)
    t.equal(exitCode, 0, err)
    await untilRail(processor, /^up$/)

    t.equal(await rail.end(), 0)
    copyJournal(newest, railDir)
    rail = await startRail()
    await untilRail(processor, /^up$/)
  })

  t.equal(await processor.end(), 0)
  t.equal(await rail.end(), 0)
  copyJournal(railDir, restoredDir)
  await assertCleanAudit(t, restoredDir)
})
