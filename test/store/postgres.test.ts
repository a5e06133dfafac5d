/** The store on PostgreSQL beyond the contract: the fence, the lease, and copies of the books. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { instant, systemPause } from '../../src/base/clock.js'
import { ANSWER_WITHIN_MS } from '../../src/base/constants.js'
import { createLog } from '../../src/base/log.js'
import { PROCESSOR_SCHEMA } from '../../src/store/sqlite/store.js'
import { Deposed, type Store, type Wanted } from '../../src/store/store.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { exportSchemas, importSchemas } from '../../src/store/postgres/copy.js'
import {
  connectToPrimary,
  numbered,
  parseStoreUrl,
  type Connection,
} from '../../src/store/postgres/connection.js'
import { COMMIT_FUNCTION, commitValues } from '../../src/store/postgres/commit.js'
import { FENCED } from '../../src/store/postgres/commit_function.js'
import {
  acquireLease,
  HEARTBEAT_MS,
  LEASE_TIMEOUT_MS,
  takeOver,
} from '../../src/store/postgres/lease.js'
import { READS_WITHIN_MS } from '../../src/store/postgres/ownership.js'
import { readServerFigures, watchServerFigures } from '../../src/store/postgres/server_figures.js'
import { openOwnedSchema } from '../../src/store/postgres/owned_schema.js'
import { BOOKS, openPostgresStore } from '../../src/store/postgres/store.js'
import { createProxies } from '../cluster/partitions.js'
import { dueIds } from '../support/due_ids.js'
import { eventually } from '../support/eventually.js'
import { hurriedClock } from '../support/hurried_clock.js'
import { requirePostgres, startPostgres, type TestServer } from '../support/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'
import { anEvent, anIntent, batchOf } from './commit_rows.js'

requirePostgres(t)

t.setTimeout(0)
const server: TestServer = await startPostgres(t)
const log = createLog('test', { LOG_LEVEL: 'silent' })
const longPause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Looks more often; the lease and its timeout stay by the clock, longer bounds as they are. */
const shortPause = (ms: number): Promise<void> => longPause(ms > LEASE_TIMEOUT_MS ? ms : ms / 20)
const MOST = 9_223_372_036_854_775_807n

interface Opening {
  readonly holder?: string
  readonly elapsed?: () => number
  /** Takes over without waiting for the timeout of the lease. */
  readonly isHurried?: boolean
  readonly pause?: (ms: number) => Promise<void>
}

let shards = 0
const newShard = (): string => `books_${++shards}`

/** A store whose failure the test reads. */
async function opened(
  t: Test,
  shard: string,
  { holder = 'one', isHurried = false, pause = longPause, ...given }: Opening = {},
): Promise<{ store: Store; failure: () => Error | undefined }> {
  const clock = hurriedClock()
  const elapsed = given.elapsed ?? clock.elapsed
  const open = (): Promise<Store> =>
    openPostgresStore({ url: server.url, shard, holder, elapsed, pause, log })
  const store = await (isHurried ? clock.hurried(open) : open())
  let failure: Error | undefined
  store.onFailure((error) => (failure = error))
  t.teardown(() => store.close().catch(() => undefined))
  return { store, failure: () => failure }
}

async function connected(t: Test, shard: string): Promise<Connection> {
  const connection = await connectToPrimary(parseStoreUrl(server.url), shard, 'test')
  t.teardown(() => connection.close().catch(() => undefined))
  return connection
}

void t.test('a server that is silent', async (t) => {
  const schema = await openOwnedSchema(
    {
      ...{ url: server.url, shard: newShard(), holder: 'one', log },
      ...{ elapsed: () => performance.now(), pause: systemPause },
    },
    BOOKS,
    { lists: 'by cost' },
  )
  t.teardown(() => schema.close())
  for (const session of [schema.writer, schema.readers.lists]) {
    const [timeout] = await session.all('SHOW tcp_user_timeout')
    const [idle] = await session.all('SHOW tcp_keepalives_idle')
    t.same([timeout, idle], [{ tcp_user_timeout: '5000' }, { tcp_keepalives_idle: '2' }])
  }

  const partitions = createProxies()
  t.teardown(() => partitions.close())
  const [target] = parseStoreUrl(server.url)
  const { host, port } = target!
  const between = await partitions.route('one', 'postgres', `${host}:${port}`)
  const there = [{ ...target!, port: Number(between.split(':')[1]) }]
  const connection = await connectToPrimary(there, 'pg_catalog', 'test')
  partitions.cut('one', 'postgres')
  await connection.close()
  t.pass('it does not hold up who leaves it')
})

void t.test('the figures of the server are read again and again', async (t) => {
  const shard = newShard()
  const { store } = await opened(t, shard, { pause: shortPause })
  const other = await connected(t, shard)
  const before = await readServerFigures(other)
  await other.exec('CHECKPOINT')
  await other.exec('BEGIN; SELECT pg_current_xact_id()')
  const changed = await eventually('the owner has read them since', () => {
    const found = store.serverFigures?.() ?? undefined
    const isLater = (found?.checkpoints.requested ?? 0) > before.checkpoints.requested
    return isLater && found!.oldestTransactionSeconds > 0 && found
  })
  await other.exec('ROLLBACK')
  t.ok(changed.connections >= 5, 'of the store and of the test')
  t.ok(changed.connections < changed.connectionsMax)
  t.ok(changed.databaseBytes > 1_000_000)
  t.match(changed, { deadlocks: 0, standbys: [] })

  let isBroken = false
  const all: Connection['all'] = (...query) =>
    isBroken ? Promise.reject(new Error('permission denied')) : other.all(...query)
  const watch = watchServerFigures({ all }, shortPause)
  t.teardown(watch.stop)
  await eventually('they are read', () => watch.latest() !== null)
  isBroken = true
  await eventually('a failed reading leaves them out', () => watch.latest() === null)
  isBroken = false
  await eventually('the next one has them', () => watch.latest() !== null)

  const lost = await connected(t, shard)
  const isLost = new Promise<void>((resolve) => lost.onLost(() => resolve()))
  await other.all('SELECT pg_terminate_backend(?)', [lost.session])
  await isLost
  let pauses = 0
  const onePause = (ms: number): Promise<void> => {
    pauses += 1
    return shortPause(ms)
  }
  t.teardown(watchServerFigures(lost, onePause).stop)
  await t.rejects(lost.all('SELECT 1'))
  await new Promise(setImmediate)
  t.equal(pauses, 0, 'the reading of a lost connection is the last one')
})

void t.test('a former owner commits nothing and fails its reads', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard, { holder: 'one' })
  await first.store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  await first.store.barrier()
  const second = await opened(t, shard, { holder: 'two', isHurried: true })
  await t.rejects(first.store.commit(batchOf({ intents: [anIntent('pi_2')] })), Deposed)
  await t.rejects(first.store.barrier(), Deposed)
  await eventually('the heartbeat fails as well', () => first.failure() instanceof Deposed)
  await second.store.commit(batchOf({ intents: [anIntent('pi_3')] }))
  t.same(await dueIds(second.store, 'intents', instant(5), 10), ['pi_1', 'pi_3'])
  const before = await first.store.boot(instant(0))
  const now = await second.store.boot(instant(0))
  t.equal(now.epoch, before.epoch + 1)
  t.equal(now.lastBatch, 2)
})

void t.test(
  'a candidate waits while the owner lives, and takes a released lease at once',
  async (t) => {
    const shard = newShard()
    const first = await opened(t, shard, { holder: 'one' })
    let isTaken = false
    const second = opened(t, shard, { holder: 'two' }).then((taken) => {
      isTaken = true
      return taken
    })
    const rows = await connected(t, shard)
    const heartbeats = async (): Promise<number> =>
      (await rows.all<{ beat: number }>('SELECT beat FROM owner'))[0]?.beat ?? 0
    const begin = await heartbeats()
    await eventually('several heartbeats', async () => (await heartbeats()) >= begin + 3)
    t.notOk(isTaken)
    await first.store.close()
    t.equal((await (await second).store.boot(instant(0))).epoch, 2)
  },
)

void t.test('a take-over terminates a blocked commit, of which nothing is stored', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard, { holder: 'one' })
  const blocker = await connected(t, shard)
  await blocker.exec('BEGIN; LOCK TABLE intents IN ACCESS EXCLUSIVE MODE')
  const stuck = first.store.commit(batchOf({ intents: [anIntent('pi_1')] })).catch((e: Error) => e)
  await untilBlocked(await connected(t, shard), 'causeway commits')
  const second = await opened(t, shard, { holder: 'two', isHurried: true, pause: shortPause })
  t.match(await stuck, { message: /terminat/ })
  await blocker.exec('ROLLBACK')
  t.same(await dueIds(second.store, 'intents', instant(5), 10), [])
  t.equal((await second.store.boot(instant(0))).lastBatch, 0)
})

void t.test(
  'a take-over ends no session of another process with the same process id',
  async (t) => {
    const shard = newShard()
    const first = await opened(t, shard, { holder: 'one#run1' })
    const other = await opened(t, newShard(), { holder: 'other#run9' })
    const blocker = await connected(t, shard)
    await blocker.exec('BEGIN; LOCK TABLE intents IN ACCESS EXCLUSIVE MODE')
    const stuck = first.store
      .commit(batchOf({ intents: [anIntent('pi_1')] }))
      .catch((e: Error) => e)
    const rows = await connected(t, shard)
    await untilBlocked(rows, 'causeway commits run1')
    const name = `SELECT pid FROM pg_stat_activity WHERE application_name = 'causeway commits run9'`
    const [session] = await rows.all<{ pid: number }>(name)
    const [owner] = await rows.all<{ beat: number }>('SELECT beat FROM owner')
    const beat = owner?.beat ?? -1
    const seen = { epoch: 1, holder: 'one#run1', beat, session: session?.pid ?? 0 }
    const taking = takeOver({ connection: rows, background: blocker, ...CANDIDATE }, seen)
    await t.rejects(taking, { name: 'NoAnswer' }, 'the session is not that of the holder')
    await other.store.commit(batchOf({ intents: [anIntent('pi_2')] }))
    t.equal(other.failure(), undefined)
    await blocker.exec('ROLLBACK')
    await stuck
  },
)

/** Until a commit of this session waits for the lock of another one. */
const untilBlocked = (rows: Connection, session: string): Promise<true> =>
  eventually('the commit is blocked', async () => {
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE application_name = ? AND wait_event_type = 'Lock'`
    return (await rows.all(waiting, [session])).length > 0
  })

void t.test('a batch is committed once, after the one before it, in its epoch', async (t) => {
  const shard = newShard()
  await opened(t, shard)
  const rows = await connected(t, shard)
  const commit = (epoch: number, batch: number): Promise<number> => {
    const values = commitValues(batchOf({ intents: [anIntent('pi_1')] }), epoch, batch)
    return rows.run(COMMIT_FUNCTION.statement, values)
  }
  const fenced = { code: FENCED }
  await t.rejects(commit(1, 2), fenced, 'the one before it is missing')
  await t.rejects(commit(2, 1), fenced, 'another epoch')
  await commit(1, 1)
  await t.rejects(commit(1, 1), fenced, 'a second time')
  await commit(1, 2)
})

const CANDIDATE = { holder: 'two#run2', pause: (ms: number) => longPause(ms / 20), log }

void t.test('a process of a copied data directory waits while the other one serves', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard, { holder: 'one#run1' })
  let isTaken = false
  const second = opened(t, shard, { holder: 'one#run2' }).then((taken) => {
    isTaken = true
    return taken
  })
  const rows = await connected(t, shard)
  await eventually('several heartbeats', async () => {
    const [row] = await rows.all<{ beat: number }>('SELECT beat FROM owner')
    return (row?.beat ?? 0) >= 3
  })
  t.notOk(isTaken)
  await first.store.close()
  t.equal((await (await second).store.boot(instant(0))).epoch, 2)
})

/** Makes each write wait for a standby that does not exist, until the test ends. */
async function withoutStandby(t: Test, shard: string): Promise<StandbyControl> {
  const admin = await connected(t, shard)
  const setStandby = async (name: string): Promise<void> => {
    await admin.exec(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await admin.exec('SELECT pg_reload_conf()')
  }
  t.teardown(() => setStandby(''))
  await setStandby('absent_standby')
  const probe = await connected(t, shard)
  const waiting = async (besides: number): Promise<number> => {
    const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> ?`
    return (await admin.all(sql, [besides])).length
  }
  let isInEffect = false
  const probing = (async () => {
    while (!isInEffect) await probe.exec('CREATE TABLE probe (); DROP TABLE probe')
  })()
  probing.catch(() => undefined)
  await eventually('writes wait', async () => (isInEffect = (await waiting(0)) > 0))
  return {
    waiting: () => waiting(probe.session),
    cancel: async () => {
      await admin.all(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE wait_event = 'SyncRep' AND pid <> ?`,
        [probe.session],
      )
    },
    back: () => setStandby(''),
  }
}

interface StandbyControl {
  /** Writes that wait, without the probe. */
  waiting(): Promise<number>
  cancel(): Promise<void>
  back(): Promise<void>
}

void t.test('a cancelled wait for the standby counts as a failed commit', async (t) => {
  const shard = newShard()
  const { store, failure } = await opened(t, shard)
  const standby = await withoutStandby(t, shard)
  const committing = store.commit(batchOf({ intents: [anIntent('pi_1')] })).catch((e: Error) => e)
  await eventually('the commit waits', async () => (await standby.waiting()) > 0)
  await standby.cancel()
  t.match(await committing, { message: /committed with a warning/ })
  t.match(failure(), { message: /committed with a warning/ })
})

void t.test('a cancelled wait of a heartbeat counts as a failure', async (t) => {
  const shard = newShard()
  const { store, failure } = await opened(t, shard)
  const standby = await withoutStandby(t, shard)
  await eventually('a heartbeat waits', async () => (await standby.waiting()) > 0)
  await standby.cancel()
  await eventually('the failure', () => failure() !== undefined)
  t.match(failure(), { message: /committed with a warning/ })
  await t.rejects(store.barrier(), /committed with a warning/)
})

void t.test('a commit without an answer from the server ends the ownership', async (t) => {
  const shard = newShard()
  let now = 0
  const { store, failure } = await opened(t, shard, { elapsed: () => now, pause: shortPause })
  const blocker = await connected(t, shard)
  await blocker.exec('BEGIN; LOCK TABLE intents IN ACCESS EXCLUSIVE MODE')
  const committing = store.commit(batchOf({ intents: [anIntent('pi_1')] })).catch((e: Error) => e)
  now += ANSWER_WITHIN_MS
  await eventually('the failure', () => failure() !== undefined)
  t.match(failure(), { message: /no answer from the server within 5000 ms/ })
  t.notOk(failure() instanceof Deposed, 'the process exits with 70')
  await blocker.exec('ROLLBACK')
  t.match(await committing, { message: /no answer/ }, 'a late answer does not count')
})

const NOTHING: Wanted = {
  ...{ intents: [], payouts: [], beneficiaries: [], idempotency: [], indexedKeys: [] },
  ...{ usage: [], fxQuotes: [], discrepancies: [], deposits: [] },
}

void t.test('a server that does not answer a look-up ends the ownership', async (t) => {
  const shard = newShard()
  let now = 0
  const { store, failure } = await opened(t, shard, { elapsed: () => now, pause: shortPause })
  const blocker = await connected(t, shard)
  await blocker.exec('BEGIN; LOCK TABLE intents IN ACCESS EXCLUSIVE MODE')
  const loading = store.load({ ...NOTHING, intents: ['pi_1'] })
  now += ANSWER_WITHIN_MS
  await eventually('the failure', () => failure() !== undefined)
  t.match(failure(), { name: 'NoAnswer', message: /no answer from the server within 5000 ms/ })
  await blocker.exec('ROLLBACK')
  await loading
})

void t.test('a take-over that has no answer fails', async (t) => {
  const shard = newShard()
  const { store } = await opened(t, shard)
  await store.close()
  const standby = await withoutStandby(t, shard)
  const pause = (ms: number): Promise<void> => longPause(ms / 20)
  const took = opened(t, shard, { pause }).catch((e: Error) => e)
  t.match(await took, { name: 'NoAnswer' })
  await standby.back()
})

void t.test('reads need a recently confirmed write: a former primary confirms none', async (t) => {
  const shard = newShard()
  let now = 0
  const { store, failure } = await opened(t, shard, { elapsed: () => now, pause: shortPause })
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  const standby = await withoutStandby(t, shard)
  now += READS_WITHIN_MS - 1
  const soon = store.barrier()
  await t.resolves(soon, 'needs no write')

  now += 1
  let isAnswered = false
  const late = store.barrier().then(() => (isAnswered = true))
  await eventually('a heartbeat waits', async () => (await standby.waiting()) > 0)
  t.notOk(isAnswered)
  await standby.back()
  t.ok(await late, 'once a heartbeat is confirmed')
  t.equal(failure(), undefined)
})

void t.test('the sending of a write, not its answer, bounds the reads after it', async (t) => {
  const shard = newShard()
  let now = 0
  /** No heartbeat but those that reads send. */
  const pause = (ms: number): Promise<void> =>
    ms === HEARTBEAT_MS ? new Promise(() => undefined) : shortPause(ms)
  const { store } = await opened(t, shard, { elapsed: () => now, pause })
  await store.barrier()
  now += READS_WITHIN_MS
  const first = await withoutStandby(t, shard)
  const late = store.barrier()
  await eventually('a heartbeat waits', async () => (await first.waiting()) > 0)
  now += READS_WITHIN_MS
  await first.back()
  await late

  const second = await withoutStandby(t, shard)
  let isAnswered = false
  const next = store.barrier().then(() => (isAnswered = true))
  const isDecided = async (): Promise<boolean> => isAnswered || (await second.waiting()) > 0
  await eventually('another heartbeat waits', isDecided)
  t.notOk(isAnswered, 'the first heartbeat was answered now, but sent too long ago')
  await second.back()
  await next
})

void t.test('a take-over is repeated when the owner sends a heartbeat during it', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard, { holder: 'one' })
  const [connection, background] = [await connected(t, shard), await connected(t, shard)]
  let takeOvers = 0
  const disturbed: Connection = {
    ...connection,
    all: async (sql, parameters) => {
      if (sql.includes('SET epoch') && takeOvers++ === 0)
        await background.run('UPDATE owner SET beat = beat + 1')
      return connection.all(sql, parameters)
    },
  }
  const clock = hurriedClock()
  const options = { holder: 'two', elapsed: clock.elapsed, pause: shortPause, log }
  const taken = await clock.hurried(() =>
    acquireLease({ ...options, connection: disturbed, background }),
  )
  t.equal(takeOvers, 2)
  t.match(taken, { epoch: 2, lastBatch: 0 })
  await t.rejects(first.store.barrier(), Deposed)
})

void t.test('no heartbeat of the former epoch follows a raise of the epoch', async (t) => {
  const shard = newShard()
  let now = 0
  let looks = 0
  const elapsed = (): number => (looks++, now)
  const { store, failure } = await opened(t, shard, { elapsed, pause: shortPause })
  const blocker = await connected(t, shard)
  await blocker.exec('BEGIN; SELECT 1 FROM owner FOR UPDATE')
  const raising = store.raiseEpoch(7)
  now += 2_000
  const before = looks
  await eventually('a heartbeat would be due', () => looks >= before + 2)
  await blocker.exec('ROLLBACK')
  await raising
  await store.barrier()
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  t.equal(failure(), undefined)
  t.match(store.marks.progress(), { epoch: 8, lastBatch: 1 })
})

void t.test('committed rows survive a kill of the server', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard)
  for (let i = 1; i <= 20; i++)
    await first.store.commit(batchOf({ intents: [anIntent(`pi_${i}`)] }))
  await server.kill()
  await eventually('the store reports it', () => first.failure() !== undefined)
  await t.rejects(first.store.commit(batchOf({ intents: [anIntent('pi_99')] })))
  await server.start()
  const next = await opened(t, shard)
  t.equal((await dueIds(next.store, 'intents', instant(5), 99)).length, 20)
  t.equal((await next.store.boot(instant(0))).lastBatch, 20)
})

void t.test('a copy to SQLite and back has the same rows', async (t) => {
  const shard = newShard()
  const { store } = await opened(t, shard)
  await store.commit({
    ...batchOf({
      intents: [anIntent('pi_1')],
      accounts: [{ id: 'demo_sandbox:VND:prefund', balance: MOST }],
      events: [anEvent(1), anEvent(2)],
    }),
    nonces: Buffer.from([0, 255, 1, 2, 3, 4, 5, 6]),
  })
  await store.commit({ ...batchOf({}), settledEvents: ['evt_1'] })
  await store.close()
  const folder = tempFolder(t)
  const [there, again] = [join(folder, 'there.db'), join(folder, 'again.db')]
  const copied = await exportSchemas(server.url, [{ schema: shard, file: there, holds: 'books' }])
  const copy = newShard()
  const wanted = [{ schema: copy, file: there, holds: 'books' }] as const
  t.same(await importSchemas(server.url, wanted), copied)
  await t.rejects(importSchemas(server.url, wanted), /has books/)
  t.same(await exportSchemas(server.url, [{ ...wanted[0], file: again }]), copied)
  t.same(await textOf(again), await textOf(there))
  const reopened = await opened(t, copy)
  t.match(await reopened.store.openEvents(0, 9), [{ id: 'evt_2' }])
})

/** Every row of every table. */
async function textOf(file: string): Promise<readonly string[]> {
  const database = await openDatabase(file, { readOnly: true })
  const tables = await database.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  const rows = await Promise.all(tables.map(({ name }) => database.all(`SELECT * FROM ${name}`)))
  await database.close()
  return rows.map((found, i) => `${tables[i]?.name}: ${JSON.stringify(found)}`)
}

void t.test('both schemas have the same tables and columns', async (t) => {
  const shard = newShard()
  await opened(t, shard)
  const rows = await connected(t, shard)
  const file = join(tempFolder(t), 'books.db')
  const sqlite = await openDatabase(file, { migrations: PROCESSOR_SCHEMA })
  t.teardown(() => sqlite.close())
  const here = await sqlite.all<{ column: string }>(
    `SELECT m.name || '.' || c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
  )
  const there = await rows.all<{ column: string }>(
    `SELECT table_name || '.' || column_name AS "column" FROM information_schema.columns
     WHERE table_schema = ?`,
    [shard],
  )
  const only = ['outbox.', 'event_outcomes.', 'owner.'] // the outbox and the lease
  const names = (found: readonly { column: string }[]): string[] =>
    found
      .map(({ column }) => column)
      .filter((column) => !only.some((table) => column.startsWith(table)))
      .filter((column) => column !== 'events.settled_at')
      .sort()
  t.same(names(there), names(here))
})

void t.test('an index of SQLite has its counterpart', async (t) => {
  const shard = newShard()
  await opened(t, shard)
  const rows = await connected(t, shard)
  const sqlite = await openDatabase(join(tempFolder(t), 'books.db'), {
    migrations: PROCESSOR_SCHEMA,
  })
  t.teardown(() => sqlite.close())
  const here = await sqlite.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
  )
  const there = await rows.all<{ name: string }>(
    'SELECT indexname AS name FROM pg_indexes WHERE schemaname = ?',
    [shard],
  )
  const known = new Set(there.map(({ name }) => name))
  t.same(
    here.map(({ name }) => name).filter((name) => !known.has(name)),
    ['events_open'],
    'the outbox replaces it',
  )
})

void t.test('a store URL has hosts and ports, or a socket', (t) => {
  const hostsOf = (url: string): string[] =>
    parseStoreUrl(url).map(({ host, port }) => `${host}:${port}`)
  t.same(hostsOf('postgres://u:p@127.0.0.1,localhost:5433/causeway'), [
    '127.0.0.1:5432',
    'localhost:5433',
  ])
  t.same(hostsOf('postgres://u@/causeway?host=/run/postgresql'), ['/run/postgresql:5432'])
  t.same(hostsOf('postgres://u@[::1]:6000/causeway'), ['::1:6000'])
  const [remote] = parseStoreUrl('postgres://u:a%40b@db.example/causeway')
  t.match(remote, { password: 'a@b', ssl: { rejectUnauthorized: true } }, 'TLS beyond loopback')
  t.equal(parseStoreUrl('postgres://u@localhost/c')[0]?.ssl, undefined)
  t.throws(() => parseStoreUrl('mysql://x/y'), /not postgres/)
  t.equal(numbered('a = ? AND b = ?2 OR c = ?'), 'a = $1 AND b = $2 OR c = $2')
  t.end()
})

void t.test('a database of another encoding or collation is refused', async (t) => {
  const connection = await connectToPrimary(parseStoreUrl(server.url), 'public', 'a test')
  const databases = [
    ["ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'", 'stores LATIN1'],
    ["ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'", 'stores SQL_ASCII'],
    ["ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en' LC_COLLATE 'C'", 'collates by ICU'],
  ] as const
  for (const [index, [options, fault]] of databases.entries()) {
    const other = `other_${index}`
    await connection.exec(`CREATE DATABASE ${other} TEMPLATE template0 ${options}`)
    const url = server.url.replace(/[^/]*$/, other)
    const opened = openPostgresStore({
      ...{ url, shard: 'books_1', holder: 'a test', elapsed: () => performance.now() },
      ...{ pause: systemPause, log: createLog('test', { LOG_LEVEL: 'silent' }) },
    })
    await t.rejects(opened, { message: new RegExp(`database ${other} ${fault}: create it with`) })
  }
  await connection.close()
})

void t.test('an error names an unreachable server', async (t) => {
  const url = 'postgres://u:secret@127.0.0.1:1/causeway'
  await t.rejects(
    connectToPrimary(parseStoreUrl(url), 'books', 'test'),
    /no PostgreSQL server accepts writes: 127\.0\.0\.1:1: .*ECONNREFUSED/,
  )
})
