/** The store on PostgreSQL beyond the contract: the fence and the lease. */
import t, { type Test } from 'tap'
import { instant } from '../../src/base/clock.js'
import { ANSWER_WITHIN_MS } from '../../src/base/constants.js'
import { Deposed } from '../../src/store/store.js'
import type { Connection } from '../../src/store/postgres/connection.js'
import { COMMIT_FUNCTION, commitValues } from '../../src/store/postgres/commit.js'
import { FENCED } from '../../src/store/postgres/commit_function.js'
import { HEARTBEAT_MS, readOwner, release, takeOver } from '../../src/store/postgres/lease.js'
import { acquireLease } from '../../src/store/postgres/lease_wait.js'
import { READS_WITHIN_MS } from '../../src/store/postgres/ownership.js'
import { dueIds } from '../support/due_ids.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { anIntent, batchOf, NOTHING_WANTED } from './commit_rows.js'
import { server, longPause, shortPause, newShard, opened, connected } from './postgres_books.js'

t.test('a former owner commits nothing and fails its reads', async (t) => {
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
  t.match(second.store.marks.progress(), { epoch: 2, lastBatch: 2, lastBatchBefore: 1 })
})

t.test('a former owner neither raises the epoch nor releases the lease', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard, { holder: 'one' })
  const second = await opened(t, shard, { holder: 'two', isHurried: true })
  const rows = await connected(t, shard)
  await t.rejects(first.store.raiseEpoch(9), Deposed)
  t.equal(await release(rows, 1), 0)
  t.match(await readOwner(rows), { epoch: 2, holder: 'two' })
  for (const [above, epoch] of [
    [1, 3],
    [7, 8],
  ] as const) {
    await second.store.raiseEpoch(above)
    t.match(second.store.marks.progress(), { epoch, acceptedEpoch: epoch })
  }
  await second.store.close()
  const third = await opened(t, shard, { holder: 'three' })
  t.match(third.store.marks.progress(), { epoch: 9, acceptedEpoch: 8 })
})

t.test(
  'a candidate takes a released lease at once, with what was committed while it waited',
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
    await first.store.commit(batchOf({ intents: [anIntent('pi_1')] }))
    await first.store.close()
    const { store } = await second
    t.match(await store.boot(instant(0)), { epoch: 2, lastBatch: 1 })
    t.same(await dueIds(store, 'intents', instant(5), 10), ['pi_1'])
  },
)

t.test('of two candidates that have seen the same owner one takes over', async (t) => {
  const shard = newShard()
  const { store } = await opened(t, shard)
  await store.close()
  const [one, other, background] = await Promise.all([1, 2, 3].map(() => connected(t, shard)))
  await one!.run('UPDATE owner SET beat = 0')
  const seen = { epoch: 1, holder: '', beat: 0, session: 0 }
  const take = (connection: Connection) =>
    takeOver({ connection, background: background!, ...CANDIDATE }, seen)
  t.match(await take(one!), { epoch: 2 })
  t.equal(
    await take(other!),
    undefined,
    'the heartbeats of the next epoch begin at the same number',
  )
})

t.test('a take-over terminates a blocked commit, of which nothing is stored', async (t) => {
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

t.test('a take-over ends no session of another process with the same process id', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard, { holder: 'one#run1' })
  const other = await opened(t, newShard(), { holder: 'other#run9' })
  const blocker = await connected(t, shard)
  await blocker.exec('BEGIN; LOCK TABLE intents IN ACCESS EXCLUSIVE MODE')
  const stuck = first.store.commit(batchOf({ intents: [anIntent('pi_1')] })).catch((e: Error) => e)
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
})

/** Until a commit of this session waits for the lock of another one. */
const untilBlocked = (rows: Connection, session: string): Promise<true> =>
  eventually('the commit is blocked', async () => {
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE application_name = ? AND wait_event_type = 'Lock'`
    return (await rows.all(waiting, [session])).length > 0
  })

t.test('a batch is committed once, after the one before it, in its epoch', async (t) => {
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

t.test('a process of a copied data directory waits while the other one serves', async (t) => {
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

t.test('a candidate ends when the session of one of its readers has ended', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard, { holder: 'one' })
  const rows = await connected(t, shard)
  const readers = async (): Promise<readonly number[]> => {
    const sql = `SELECT pid FROM pg_stat_activity WHERE application_name = 'causeway lists'`
    return (await rows.all<{ pid: number }>(sql)).map(({ pid }) => pid)
  }
  const before = await readers()
  let isWaiting = false
  const waits = { pause: shortPause, onWaiting: () => void (isWaiting = true) }
  let end: unknown
  const candidate = opened(t, shard, { holder: 'two', ...waits })
  void candidate.catch((error: unknown) => (end = error))
  await eventually('it waits', () => isWaiting)
  const reader = (await readers()).find((pid) => !before.includes(pid)) ?? 0
  await rows.all('SELECT pg_terminate_backend(?)', [reader])
  await eventually('the candidate has ended', () => end !== undefined)
  t.match(end, { name: 'NoAnswer', message: /the connection to the server was lost/ })
  await first.store.barrier()
})

/** Makes each write wait for a standby that does not exist, until the test ends. */
async function withoutStandby(t: Test, shard: string) {
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
    /** Writes that wait, without the probe. */
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

/** No heartbeat but those that reads send. */
const withoutHeartbeats = (ms: number): Promise<void> =>
  ms === HEARTBEAT_MS ? new Promise(() => undefined) : shortPause(ms)

t.test('a cancelled wait for the standby counts as a failed commit', async (t) => {
  const shard = newShard()
  const { store, failure } = await opened(t, shard, { pause: withoutHeartbeats })
  const standby = await withoutStandby(t, shard)
  const committing = store.commit(batchOf({ intents: [anIntent('pi_1')] })).catch((e: Error) => e)
  await eventually('the commit waits', async () => (await standby.waiting()) > 0)
  await standby.cancel()
  t.match(await committing, { message: /committed with a warning/ })
  t.match(failure(), { message: /committed with a warning/ })
})

t.test('a cancelled wait counts also where a role gets no warnings', async (t) => {
  const shard = newShard()
  const admin = await connected(t, shard)
  t.teardown(() => admin.exec('ALTER ROLE CURRENT_USER RESET client_min_messages'))
  await admin.exec('ALTER ROLE CURRENT_USER SET client_min_messages = error')
  const { store } = await opened(t, shard, { pause: withoutHeartbeats })
  const standby = await withoutStandby(t, shard)
  const committing = store.commit(batchOf({ intents: [anIntent('pi_1')] })).catch((e: Error) => e)
  await eventually('the commit waits', async () => (await standby.waiting()) > 0)
  await standby.cancel()
  t.match(await committing, { message: /committed with a warning/ })
})

t.test('a cancelled wait of a heartbeat counts as a failure', async (t) => {
  const shard = newShard()
  const { store, failure } = await opened(t, shard)
  const standby = await withoutStandby(t, shard)
  await eventually('a heartbeat waits', async () => (await standby.waiting()) > 0)
  await standby.cancel()
  await eventually('the failure', () => failure() !== undefined)
  t.match(failure(), { message: /committed with a warning/ })
  await t.rejects(store.barrier(), /committed with a warning/)
})

t.test('a commit without an answer from the server ends the ownership', async (t) => {
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

t.test('a server that does not answer a look-up ends the ownership', async (t) => {
  const shard = newShard()
  let now = 0
  const { store, failure } = await opened(t, shard, { elapsed: () => now, pause: shortPause })
  const blocker = await connected(t, shard)
  await blocker.exec('BEGIN; LOCK TABLE intents IN ACCESS EXCLUSIVE MODE')
  const loading = store.load({ ...NOTHING_WANTED, intents: ['pi_1'] })
  now += ANSWER_WITHIN_MS
  await eventually('the failure', () => failure() !== undefined)
  t.match(failure(), { name: 'NoAnswer', message: /no answer from the server within 5000 ms/ })
  await blocker.exec('ROLLBACK')
  await loading
})

t.test('a take-over that has no answer fails', async (t) => {
  const shard = newShard()
  const { store } = await opened(t, shard)
  await store.close()
  const standby = await withoutStandby(t, shard)
  const pause = (ms: number): Promise<void> => longPause(ms / 20)
  const took = opened(t, shard, { pause }).catch((e: Error) => e)
  t.match(await took, { name: 'NoAnswer' })
  await standby.back()
})

t.test('reads need a recently confirmed write: a former primary confirms none', async (t) => {
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

t.test('the sending of a write, not its answer, bounds the reads after it', async (t) => {
  const shard = newShard()
  let now = 0
  const { store } = await opened(t, shard, { elapsed: () => now, pause: withoutHeartbeats })
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

t.test('a take-over is repeated when the owner sends a heartbeat during it', async (t) => {
  const shard = newShard()
  const first = await opened(t, shard, { holder: 'one', pause: withoutHeartbeats })
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
  let now = 0
  /** Time passes only between looks. */
  const pause = async (ms: number): Promise<void> => {
    if (ms > HEARTBEAT_MS) return longPause(ms)
    now += ms
  }
  const taken = await acquireLease({
    ...{ connection: disturbed, background, holder: 'two', elapsed: () => now, pause, log },
  })
  t.equal(takeOvers, 2)
  t.match(taken, { epoch: 2, lastBatch: 0 })
  await t.rejects(first.store.barrier(), Deposed)
})

t.test('of two candidates that have seen the same owner one takes over', async (t) => {
  const shard = newShard()
  await opened(t, shard, { pause: withoutHeartbeats })
  const [one, other] = [await connected(t, shard), await connected(t, shard)]
  const seen = await readOwner(one)
  const take = (connection: Connection) =>
    takeOver({ connection, background: other, ...CANDIDATE }, seen)
  t.match(await take(one), { epoch: 2 })
  t.match(await readOwner(one), { beat: seen.beat }, 'only the epoch tells the owners apart')
  t.equal(await take(other), undefined)
})

t.test('no heartbeat of the former epoch follows a raise of the epoch', async (t) => {
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
  t.match(store.marks.progress(), { epoch: 8, lastBatch: 1, lastBatchBefore: 0 })
})

t.test('committed rows survive a kill of the server', async (t) => {
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

t.test('a read that meets a damaged page is told, and other reads go on', async (t) => {
  const shard = newShard()
  const { store, failure } = await opened(t, shard)
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  const connection = await connected(t, shard)
  await connection.exec(
    `CREATE FUNCTION damaged() RETURNS boolean STABLE LANGUAGE plpgsql AS
       $$ BEGIN RAISE 'invalid page in block 0' USING ERRCODE = 'data_corrupted'; END $$;
     ALTER TABLE events RENAME TO kept;
     CREATE VIEW events AS SELECT * FROM kept WHERE damaged()`,
  )
  t.equal(store.damage(), null)
  const fault = 'database postgres is damaged: invalid page in block 0'
  await t.rejects(store.openEvents(0, 1), { message: fault })
  t.equal(store.damage(), fault)
  t.same(await dueIds(store, 'intents', instant(9e12), 1), ['pi_1'])
  t.equal(failure(), undefined)
})
