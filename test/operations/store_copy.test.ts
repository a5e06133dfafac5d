/** `store copy`: books and webhook pools of a stopped stack move from SQLite to PostgreSQL. */
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { acquireLock, openDatabase } from '../../src/store/sqlite/database.js'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { eventually } from '../support/eventually.js'
import { listen } from '../support/listen.js'
import { connectedTo, requirePostgres, startPostgres } from '../support/postgres_server.js'
import { startProgram, type CliResult } from '../support/program.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

requirePostgres(t)

interface Copied {
  readonly copied: boolean
  readonly tables: readonly {
    readonly schema: string
    readonly table: string
    readonly rows: number
  }[]
}

const server = await startPostgres(t)
const dataDir = join(tempFolder(t), 'data')
const ON_SQLITE = { STORE: 'sqlite', STORE_URL: '' }
/** The pools' role, which has their schema and nothing else. */
const POOL_ROLE = 'pools'
const poolUrl = server.url.replace(/\/\/[^@]*@/, `//${POOL_ROLE}:secret@`)
const admin = await connectedTo(t, server.url, 'public')
await admin.exec(`CREATE ROLE ${POOL_ROLE} LOGIN PASSWORD 'secret';
  CREATE SCHEMA pool_1 AUTHORIZATION ${POOL_ROLE}`)
const onServer = { STORE_URL: server.url, SHARD: 'books_7', WEBHOOK_STORE_URL: poolUrl }

const ops = (...words: string[]): Promise<CliResult> =>
  startProgram('operations/main.js', words, { DATA_DIR: dataDir, ...onServer }).ended
const audit = (settings: Readonly<Record<string, string>>): Promise<CliResult> =>
  startProgram('audit/main.js', ['--data-dir', dataDir], settings).ended

t.test('without books or a URL the copy is refused with the reason', async (t) => {
  t.match(await ops('store', 'copy'), { exitCode: 2, err: /There are no books to copy/ })
  const unset = { DATA_DIR: dataDir, ...ON_SQLITE }
  const { exitCode, err } = await startProgram('operations/main.js', ['store', 'copy'], unset).ended
  t.match({ exitCode, err }, { exitCode: 2, err: /STORE_URL names no server/ })
})

/** Rejects every webhook with a reply that PostgreSQL cannot store, until the test changes that. */
const receiver = createServer((request, response) => {
  request.resume()
  response.writeHead(accepts ? 200 : 500).end(accepts ? '' : REPLY)
})
let accepts = false
const REPLY = 'no \0 way'
const receiverPort = await listen(t, receiver)

async function attempts(): Promise<number> {
  const pool = await openDatabase(join(dataDir, 'webhooks.db'), { readOnly: true })
  const [row] = await pool.all<{ n: number }>('SELECT count(*) AS n FROM attempts')
  await pool.close()
  return row?.n ?? 0
}

t.test('the copy has every payment and delivery, and the stack continues on it', async (t) => {
  const first = await startStack({ dataDir, settings: { RAIL_DELAY_MS: '20', ...ON_SQLITE } })
  const { partner } = first
  const endpoint = {
    url: `http://127.0.0.1:${receiverPort}/`,
    enabled_events: ['payout.completed'],
  }
  t.match(await partner.request('POST', '/v1/webhook_endpoints', endpoint), { status: 201 })
  const payout = await payOut(partner, 'before the copy')
  const { id } = await payByQr(partner, 'before the copy')
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
  await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
  await eventually('an attempt is stored', async () => (await attempts()) > 0)
  t.match(await ops('store', 'copy'), { exitCode: 1, err: /in use by a running stack: stop it/ })
  await first.stop()

  const lock = await acquireLock(join(dataDir, 'processor.db'))
  t.match(await ops('store', 'copy'), { exitCode: 1, err: /in use by another process/ })
  await lock.close()
  const folder = await openDataFolder(dataDir)
  t.match(await ops('store', 'copy'), { exitCode: 1, err: /in use by a running stack/ })
  await folder.release()

  const { exitCode, out, err } = await ops('store', 'copy', '--json')
  t.equal(exitCode, 0, err)
  const { copied, tables } = JSON.parse(out) as Copied
  t.equal(copied, true)
  const rowsOf = (name: string): number =>
    tables.find(({ schema, table }) => `${schema}.${table}` === name)?.rows ?? 0
  t.ok(rowsOf('books_7.events') > 3)
  t.ok(rowsOf('pool_1.events') > 0)
  t.equal(rowsOf('pool_1.deliveries'), 1)
  t.ok(rowsOf('pool_1.attempts') > 0)
  const pool = await connectedTo(t, server.url, 'pool_1')
  t.match(await pool.all('SELECT reply FROM attempts'), [{ reply: 'no \ufffd way' }])
  t.same(
    readdirSync(dataDir).filter((name) => name.startsWith('store_copy_')),
    [],
  )
  const again = await ops('store', 'copy')
  t.match(again, {
    exitCode: 1,
    err: /schema pool_1 has deliveries: name another WEBHOOK_POOL_SCHEMA/,
  })
  const asPool = await connectedTo(t, poolUrl, 'books_7')
  await t.rejects(asPool.all('SELECT * FROM books_7.payouts'), /permission denied/)
  await t.rejects(asPool.exec('CREATE SCHEMA other'), /permission denied/)
  for (const settings of [ON_SQLITE, onServer]) {
    const { exitCode, out, err } = await audit(settings)
    t.equal(exitCode, 0, out + err)
  }

  accepts = true
  const second = await startStack({ t, dataDir, settings: { RAIL_DELAY_MS: '20', ...onServer } })
  const { partner: same } = second
  t.ok(await untilStatus(same, `/v1/payment_intents/${id}`, 'captured'))
  const later = await payOut(same, 'after the copy')
  t.ok(await untilStatus(same, `/v1/payouts/${later}`, 'completed'))
  await eventually(
    'the delivery that was open at the copy and a later one are made',
    async () => (await pool.all("SELECT 1 FROM deliveries WHERE state = 'delivered'")).length === 2,
    60_000,
  )
  const { exitCode: code, out: report } = await audit(onServer)
  t.equal(code, 0, report)
})
