/**
 * Books restored from an older copy: a high-water mark, rail, bus or webhook pool ahead makes the
 * stack exit with code 78 and name the cause. After any kill it starts as usual.
 */
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { readHighWater } from '../../src/processor/recovery/high_water.js'
import {
  allEventsAreSettled,
  discardBooks,
  isOnPostgres,
  rawBooks,
  rawPool,
  sqliteOnly,
  storeSettings,
  type RawBooks,
} from '../support/books.js'
import { eventually } from '../support/eventually.js'
import {
  copyFolder,
  discardPool,
  saveBooks,
  saveRunningBooks,
  type SavedBooks,
} from '../support/saved_books.js'
import { startProcess } from '../support/single_process.js'
import { tempFolder } from '../support/temp_folder.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { isAlive } from '../support/program.js'
import { payoutBody } from '../support/requests.js'
import { runUntilExit, startStack, type RunningStack } from '../support/stack.js'

t.setTimeout(0)
const folder = tempFolder(t)
const EXIT_BOOKS_BEHIND = 78
const SETTINGS = { RAIL_DELAY_MS: '20' }
const BOOKS = FILES.processorDatabase

let made = 0
async function pay({ partner }: RunningStack): Promise<void> {
  const payout = await payOut(partner, `payout ${++made}`)
  const { id } = await payByQr(partner, `intent ${made}`)
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
  await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
}

const lastBatchOf = async (dataDir: string): Promise<number> => {
  const books = await rawBooks(dataDir)
  const [owner] = await books.all<{ last_batch: number }>('SELECT last_batch FROM owner')
  await books.close()
  return owner?.last_batch ?? 0
}
const markOf = (dataDir: string) =>
  readHighWater(readFileSync(join(dataDir, FILES.highWater), 'utf8'))

/** Resolves when the file names the last commit, and bus and pool have the newest event. */
async function untilMarked({ dataDir }: RunningStack): Promise<void> {
  const newestIn = async (connection: RawBooks): Promise<string | undefined> => {
    const [event] = await connection.all<{ id: string }>(
      'SELECT id FROM events ORDER BY position DESC LIMIT 1',
    )
    await connection.close()
    return event?.id
  }
  await eventually(
    'the newest event is in the pool',
    async () =>
      (await newestIn(await rawPool(dataDir, 1))) === (await newestIn(await rawBooks(dataDir))),
  )
  await eventually(
    'the high-water mark is that of the last commit',
    async () =>
      (await allEventsAreSettled(dataDir)) &&
      markOf(dataDir)?.lastBatch === (await lastBatchOf(dataDir)),
  )
}

/** The folder of a killed stack, its books, and an older copy of them. */
async function createFolders(): Promise<{
  newest: string
  killed: SavedBooks
  older: SavedBooks
}> {
  const newest = join(folder, 'newest')
  const stack = await startStack({ dataDir: newest, settings: SETTINGS })
  await pay(stack)
  if (!isOnPostgres()) {
    const books = await rawBooks(newest)
    await books.all('PRAGMA wal_checkpoint(PASSIVE)') // the WAL has what follows only
    await books.close()
  }
  const older = await saveRunningBooks(newest)
  await pay(stack)
  await untilMarked(stack)
  await killAll(stack)
  rmSync(join(newest, 'run'), { recursive: true, force: true }) // sockets cannot be copied
  return { newest, killed: saveBooks(newest), older }
}

/** The processor first: without its supervisor it would stop cleanly. */
async function killAll(stack: RunningStack): Promise<void> {
  const pids = ['processor', 'nats', 'rail', 'webhooks', 'gateway'].map((name) => stack.pidOf(name))
  stack.kill('processor')
  await stack.stop('SIGKILL')
  await eventually('all processes have ended', () => !pids.some(isAlive))
}

const { newest, killed, older } = await createFolders()

/** A copy of the folder as the kill left it, without these files. */
async function folderOf(name: string, ...without: readonly string[]): Promise<string> {
  const dataDir = join(folder, name)
  await copyFolder(newest, dataDir)
  for (const part of without) rmSync(join(dataDir, part), { recursive: true, force: true })
  return dataDir
}

async function startRefused(dataDir: string): Promise<string> {
  const { exitCode, output } = await runUntilExit(dataDir, SETTINGS)
  t.equal(exitCode, EXIT_BOOKS_BEHIND)
  t.match(output, /put the newest copy of the books back, or start with RECOVERY=yes/)
  t.equal(output.match(/went back in time/g)?.length, 1, 'reported once')
  t.notMatch(output, /starting it again/)
  return output
}

/** Ended by its high-water mark before it connects to anything. */
async function assertRefusedAlone(dataDir: string, found: RegExp): Promise<void> {
  const processor = await startProcess(t, 'src/processor/main.js', {
    ...storeSettings(dataDir),
    ...{ DATA_DIR: dataDir, GRPC_PORT: '0', NATS_URL: 'nats://127.0.0.1:1' },
  })
  t.equal(await processor.ended, EXIT_BOOKS_BEHIND)
  t.match(processor.output(), found)
}

t.test('a missing WAL is detected', { skip: sqliteOnly('its WAL') }, async (t) => {
  const dataDir = await folderOf('wal')
  t.ok(statSync(join(dataDir, `${BOOKS}-wal`)).size > 0, 'it has commits')
  for (const suffix of ['-wal', '-shm']) rmSync(join(dataDir, BOOKS + suffix))
  await assertRefusedAlone(
    dataDir,
    /the books end \d+ commits behind high_water\.json \(\d+ < \d+\)/,
  )
})

t.test('an older copy is detected by the high-water mark, the newest one starts', async (t) => {
  t.equal(statSync(join(newest, FILES.highWater)).mode & 0o777, 0o600)
  const dataDir = await folderOf('older')
  await older.restore(dataDir)
  t.match(await startRefused(dataDir), /the books end \d+ commits behind high_water\.json/)
  await killed.restore(dataDir)
  const stack = await startStack({ dataDir, settings: SETTINGS })
  await pay(stack)
  t.equal(await stack.stop(), 0)
  const mark = markOf(dataDir)
  t.equal(mark?.lastBatch, await lastBatchOf(dataDir), 'a clean stop writes the mark')
})

t.test('an older copy is detected by the rail', async () => {
  const dataDir = await folderOf('rail', FILES.highWater, 'nats')
  await discardPool(dataDir)
  await older.restore(dataDir)
  const output = await startRefused(dataDir)
  t.match(output, /rail sandbox has instruction (pi|pout)_\w+, which the books never sent/)
  t.match(output, /their newest event is of 20/)
})

t.test('an older copy is detected by the bus', async () => {
  const dataDir = await folderOf('bus', FILES.highWater, FILES.railDatabase)
  await discardPool(dataDir)
  await older.restore(dataDir)
  t.match(await startRefused(dataDir), /the bus has event evt_\w+, which the books do not/)
})

t.test('the word of a webhook pool alone stops submissions', async (t) => {
  const dataDir = await folderOf('pool', FILES.highWater, FILES.railDatabase, 'nats')
  await older.restore(dataDir)
  const stack = await startStack({ t, dataDir, settings: SETTINGS })
  const { partner, ops } = stack
  const stopped = await stack.untilMode('submissions_stopped')
  const found = /webhook pool 1 has event evt_\w+, which the books do not/
  t.match(stopped, { reasons: { processor: found } })
  await eventually('it is logged', () => found.test(stack.logOf('processor')))
  t.match(await stack.metrics(), /causeway_submissions_stopped(?:\{[^}]*\})? 1\n/)
  const written = await partner.request('POST', '/v1/beneficiaries', payoutBody().beneficiary)
  t.equal(written.status, 201, 'writes are accepted')
  t.match(await ops.json('recovery show'), { active: true, stops: 'submissions' })
  const { exitCode, err } = await ops(
    ...['recovery', 'release', '--no-statement', '--yes', '--reason', 'the pool was restored too'],
  )
  t.equal(exitCode, 0, err)
  await stack.untilMode('normal')
  await stack.untilServing()
  await eventually('calls are served', async () => {
    const { status } = await partner.request('GET', '/v1/balances')
    return status === 200
  })
  await pay(stack)
  t.match(await stack.readyz(), { body: { mode: 'normal' } }, 'the loss is accepted')
})

t.test('deleted books are detected', async (t) => {
  const gone = await folderOf('gone')
  await discardBooks(gone)
  await assertRefusedAlone(gone, /the books are not those of high_water\.json/)
  const unmarked = await folderOf('gone_unmarked', FILES.highWater)
  await discardBooks(unmarked)
  t.match(await startRefused(unmarked), /the books do not; they have no event yet|never sent/)
})

t.test('a folder without a high-water mark starts', async (t) => {
  const dataDir = await folderOf('before', FILES.highWater)
  const stack = await startStack({ dataDir, settings: SETTINGS })
  t.equal(await stack.stop(), 0)
  t.ok(existsSync(join(dataDir, FILES.highWater)), 'the start writes one')
})
