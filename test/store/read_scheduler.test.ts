/** The read scheduler: fairness, overlap and cancellation. */
import t from 'tap'
import type { Statement } from '../../src/store/database.js'
import { SQLITE } from '../../src/store/dialect.js'
import {
  createReadScheduler,
  Cancelled,
  type ReadPriority,
} from '../../src/store/read_scheduler.js'

/** A connection whose statements the test ends; `begun` lists the statements. */
function heldConnection() {
  const begun: string[] = []
  let settle: { resolve: () => void; reject: (error: Error) => void } | undefined
  const all = <Row>(sql: string): Promise<Row[]> => {
    begun.push(sql)
    return new Promise((resolve, reject) => {
      settle = { resolve: () => resolve([sql as Row]), reject }
    })
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    dialect: SQLITE,
    all,
    begun,
    /** Ends the running statement. */
    end: () => {
      settle?.resolve()
      return settled()
    },
    fail: () => {
      settle?.reject(new Error('disk I/O error'))
      return settled()
    },
  }
}

const awaited = (queueKey: string): ReadPriority => ({ queueKey, isAwaited: () => true })
const statement = (sql: string): Statement => ({ sql: () => sql, values: [] })

t.test('a tenant with 900 pages delays another by one page at a time', async (t) => {
  const connection = heldConnection()
  const { read } = createReadScheduler(connection)
  const busy = Array.from({ length: 900 }, (_, i) => read(awaited('busy'), statement(`busy ${i}`)))
  const one = read(awaited('quiet'), statement('quiet'))
  const internal = read(awaited('internal'), statement('internal'))
  for (let ended = 0; ended < 902; ended++) await connection.end()
  t.same(connection.begun.slice(0, 5), ['busy 0', 'busy 1', 'quiet', 'internal', 'busy 2'])
  t.same(
    connection.begun.slice(5),
    Array.from({ length: 897 }, (_, i) => `busy ${i + 3}`),
  )
  t.same([await one, await internal], [['quiet'], ['internal']])
  t.equal((await Promise.all(busy)).length, 900)
})

t.test(
  'one statement runs at a time, and the next starts before the rows are returned',
  async (t) => {
    const connection = heldConnection()
    const { read } = createReadScheduler(connection)
    const begunBefore: number[] = []
    for (const name of ['a', 'b', 'c']) {
      void read(awaited(name), statement(name)).then(() =>
        begunBefore.push(connection.begun.length),
      )
    }
    t.equal(connection.begun.length, 1)
    for (let ended = 0; ended < 3; ended++) await connection.end()
    t.same(begunBefore, [2, 3, 3])
  },
)

t.test('a statement that is no longer awaited is cancelled', async (t) => {
  const connection = heldConnection()
  const { read } = createReadScheduler(connection)
  let isAwaited = true
  const leaving: ReadPriority = { queueKey: 'leaving', isAwaited: () => isAwaited }
  const first = read(awaited('other'), statement('first'))
  const left = [1, 2, 3].map((i) => read(leaving, statement(`left ${i}`)))
  const stayed = read(awaited('leaving'), statement('stayed'))
  const results = Promise.allSettled(left)
  isAwaited = false
  for (let ended = 0; ended < 2; ended++) await connection.end()
  t.same(connection.begun, ['first', 'stayed'])
  t.same([await first, await stayed], [['first'], ['stayed']])
  for (const each of await results) {
    t.ok(each.status === 'rejected' && each.reason instanceof Cancelled)
  }
})

t.test('reads continue after a cancellation and after an error', async (t) => {
  const connection = heldConnection()
  const { read } = createReadScheduler(connection)
  const gone: ReadPriority = { queueKey: 'gone', isAwaited: () => false }
  await t.rejects(read(gone, statement('gone')), { message: 'no longer awaited' })
  const broken = t.rejects(read(awaited('a'), statement('broken')), /disk I\/O error/)
  const next = read(awaited('a'), statement('next'))
  await connection.fail()
  await broken
  await connection.end()
  t.same([await next, connection.begun], [['next'], ['broken', 'next']])
})

t.test('equal statements of a tenant that wait are one read', async (t) => {
  const connection = heldConnection()
  const { read } = createReadScheduler(connection)
  const of = (id: number): Statement => ({ sql: () => 'list', values: [id] })
  const running = read(awaited('a'), of(1))
  const equal = [read(awaited('a'), of(1)), read(awaited('a'), of(1))]
  const others = [read(awaited('a'), of(2)), read(awaited('b'), of(1))]
  await connection.end()
  t.same(await running, ['list'])
  t.same(connection.begun, ['list', 'list'], 'a read that has begun is not shared')
  const late = read(awaited('a'), of(1))
  for (let ended = 0; ended < 4; ended++) await connection.end()
  t.equal((await Promise.all([...equal, ...others, late])).length, 5)
  t.equal(connection.begun.length, 5)
})

t.test('an equal statement is read while one of its callers awaits it', async (t) => {
  const connection = heldConnection()
  const { read } = createReadScheduler(connection)
  const gone: ReadPriority = { queueKey: 'a', isAwaited: () => false }
  const first = read(awaited('b'), statement('first'))
  const left = read(gone, statement('list'))
  const stayed = read(awaited('a'), statement('list'))
  const ended = Promise.allSettled([first, left, stayed])
  await connection.end()
  await connection.fail()
  t.same(
    (await ended).map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  )
  t.same(connection.begun, ['first', 'list'])
  const none = [read(gone, statement('list')), read(gone, statement('list'))]
  for (const each of await Promise.allSettled(none)) {
    t.ok(each.status === 'rejected' && each.reason instanceof Cancelled)
  }
})
