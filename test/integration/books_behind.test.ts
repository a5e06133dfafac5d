/**
 * Books that went back in time: any remaining high-water mark, rail, bus or webhook pool makes the
 * stack exit with code 78 and name the cause. After any kill it starts as usual.
 */
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { readHighWater } from '../../src/processor/recovery/high_water.js'
import { openDatabase } from '../../src/store/database.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf } from '../support/partner.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { aPayout } from '../support/requests.js'
import { runUntilExit, startStack, type RunningStack } from '../support/stack.js'

t.setTimeout(0)
const folder = tempFolder(t)
const EXIT_BOOKS_BEHIND = 78
const SETTINGS = { RAIL_DELAY_MS: '20' }
const BOOKS = FILES.processorDatabase

let made = 0
async function pay(stack: RunningStack): Promise<void> {
  const partner = partnerOf(stack.sandbox)
  const payout = await payOut(partner, `payout ${++made}`)
  const { id } = await payByQr(partner, `intent ${made}`)
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
  await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
}

const lastBatchOf = async (dataDir: string): Promise<number> => {
  const books = await openDatabase(join(dataDir, BOOKS), { readOnly: true })
  const [owner] = await books.all<{ last_batch: number }>('SELECT last_batch FROM owner')
  await books.close()
  return owner?.last_batch ?? 0
}
const markOf = (dataDir: string) =>
  readHighWater(readFileSync(join(dataDir, FILES.highWater), 'utf8'))

/** Resolves when the mark and the events of all commits are stored. */
async function untilMarked(stack: RunningStack): Promise<void> {
  await eventually('the high-water mark is that of the last commit', async () => {
    const books = await openDatabase(join(stack.dataDir, BOOKS), { readOnly: true })
    const open = await books.all('SELECT id FROM events WHERE settled_at IS NULL LIMIT 1')
    await books.close()
    const mark = markOf(stack.dataDir)?.lastBatch
    return open.length === 0 && mark === (await lastBatchOf(stack.dataDir))
  })
}

/** The folder of a killed stack, and an older copy of its books. */
async function createFolders(): Promise<{ dataDir: string; newest: string; older: string }> {
  const dataDir = join(folder, 'data')
  const first = await startStack({ dataDir, settings: SETTINGS })
  await pay(first)
  await first.stop()
  const older = join(folder, 'older.db')
  copyFileSync(join(dataDir, BOOKS), older)
  const second = await startStack({ dataDir, settings: SETTINGS })
  await pay(second)
  await untilMarked(second)
  await killAll(second)
  const newest = join(folder, 'newest')
  rmSync(join(dataDir, 'run'), { recursive: true, force: true }) // sockets cannot be copied
  cpSync(dataDir, newest, { recursive: true })
  return { dataDir, newest, older }
}

/** The processor first: without its supervisor it would stop cleanly. */
async function killAll(stack: RunningStack): Promise<void> {
  const pids = ['processor', 'nats', 'rail', 'webhooks', 'gateway'].map((name) => stack.pidOf(name))
  stack.kill('processor')
  await stack.stop('SIGKILL')
  await eventually('all processes have ended', () => !pids.some(isAlive))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const { newest, older } = await createFolders()

/** A copy of the folder as the kill left it, without these files. */
function folderOf(name: string, ...without: readonly string[]): string {
  const dataDir = join(folder, name)
  cpSync(newest, dataDir, { recursive: true })
  for (const part of without) rmSync(join(dataDir, part), { recursive: true, force: true })
  return dataDir
}
function restoreOlder(dataDir: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(join(dataDir, BOOKS + suffix), { force: true })
  copyFileSync(older, join(dataDir, BOOKS))
}
async function startRefused(dataDir: string): Promise<string> {
  const { exitCode, output } = await runUntilExit(dataDir, SETTINGS)
  t.equal(exitCode, EXIT_BOOKS_BEHIND)
  t.match(output, /put the newest copy of the books back, or start with RECOVERY=yes/)
  t.equal(output.match(/went back in time/g)?.length, 1, 'reported once')
  t.notMatch(output, /starting it again/)
  return output
}

void t.test('unchanged folders start', async (t) => {
  t.ok(statSync(join(newest, `${BOOKS}-wal`)).size > 0, 'the WAL has commits')
  t.equal(statSync(join(newest, FILES.highWater)).mode & 0o777, 0o600)
  const stack = await startStack({ dataDir: folderOf('whole'), settings: SETTINGS })
  await pay(stack)
  t.equal(await stack.stop(), 0)
  const mark = markOf(stack.dataDir)
  t.equal(mark?.lastBatch, await lastBatchOf(stack.dataDir), 'a clean stop writes the mark')
})

void t.test('a missing WAL is detected', async (t) => {
  const dataDir = folderOf('wal')
  for (const suffix of ['-wal', '-shm']) rmSync(join(dataDir, BOOKS + suffix))
  const output = await startRefused(dataDir)
  t.match(output, /the books end \d+ commits behind high_water\.json \(\d+ < \d+\)/)
})

void t.test('an older copy is detected by the high-water mark', async (t) => {
  const dataDir = folderOf('older')
  restoreOlder(dataDir)
  t.match(await startRefused(dataDir), /the books end \d+ commits behind high_water\.json/)
  cpSync(join(newest, BOOKS), join(dataDir, BOOKS))
  cpSync(join(newest, `${BOOKS}-wal`), join(dataDir, `${BOOKS}-wal`))
  rmSync(join(dataDir, `${BOOKS}-shm`), { force: true })
  const stack = await startStack({ dataDir, settings: SETTINGS })
  t.equal(await stack.stop(), 0, 'the newest copy starts again')
})

void t.test('an older copy is detected by the rail', async () => {
  const dataDir = folderOf('rail', FILES.highWater, 'nats', FILES.webhookDatabase)
  restoreOlder(dataDir)
  const output = await startRefused(dataDir)
  t.match(output, /rail sandbox has instruction (pi|pout)_\w+, which the books never sent/)
  t.match(output, /their newest event is of 20/)
})

void t.test('an older copy is detected by the bus', async () => {
  const dataDir = folderOf('bus', FILES.highWater, FILES.railDatabase, FILES.webhookDatabase)
  restoreOlder(dataDir)
  t.match(await startRefused(dataDir), /the bus has event evt_\w+, which the books do not/)
})

void t.test('an older copy is detected by the webhook pool, which connects later', async (t) => {
  const dataDir = folderOf('pool', FILES.highWater, FILES.railDatabase, 'nats')
  restoreOlder(dataDir)
  const stack = await startStack({ dataDir, settings: SETTINGS })
  t.teardown(() => stack.stop())
  await eventually('recovery mode', async () => {
    const { status, body } = await stack.readyz()
    return status === 200 && body['mode'] === 'recovery'
  })
  t.match(stack.logOf('processor'), /webhook pool 1 has event evt_\w+, which the books do not/)
  const { beneficiary } = aPayout()
  const answer = await eventually('an answer', async () => {
    const got = await partnerOf(stack.sandbox).request('POST', '/v1/beneficiaries', beneficiary)
    return got.status !== 504 && got
  })
  t.equal(answer.status, 503, 'writes are rejected')
})

void t.test('deleted books are detected', async (t) => {
  const all = [BOOKS, `${BOOKS}-wal`, `${BOOKS}-shm`]
  t.match(
    await startRefused(folderOf('gone', ...all)),
    /the books are not those of high_water\.json/,
  )
  const unmarked = folderOf('gone_unmarked', ...all, FILES.highWater)
  t.match(await startRefused(unmarked), /the books do not; they have no event yet|never sent/)
})

void t.test('a folder without a high-water mark starts', async (t) => {
  const dataDir = folderOf('before', FILES.highWater)
  const stack = await startStack({ dataDir, settings: SETTINGS })
  t.equal(await stack.stop(), 0)
  t.ok(existsSync(join(dataDir, FILES.highWater)), 'the start writes one')
})
