/** The PostgreSQL server as the store finds it: its URL, its settings, its figures. */
import t from 'tap'
import { systemPause } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import {
  connectToPrimary,
  numbered,
  parseStoreUrl,
  type Connection,
} from '../../src/store/postgres/connection.js'
import { readServerFigures, watchServerFigures } from '../../src/store/postgres/server_figures.js'
import { openOwnedSchema } from '../../src/store/postgres/owned_schema.js'
import { BOOKS, openPostgresStore } from '../../src/store/postgres/store.js'
import { createProxies } from '../cluster/partitions.js'
import { eventually } from '../support/eventually.js'
import { server, log, shortPause, newShard, opened, connected } from './postgres_books.js'

t.test('a server that is silent', async (t) => {
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

t.test('the figures of the server are read again and again', async (t) => {
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

t.test('a store URL has hosts and ports, or a socket', async (t) => {
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
})

t.test('a database of another encoding or collation is refused', async (t) => {
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

t.test('an error names an unreachable server', async (t) => {
  const url = 'postgres://u:secret@127.0.0.1:1/causeway'
  await t.rejects(
    connectToPrimary(parseStoreUrl(url), 'books', 'test'),
    /no PostgreSQL server accepts writes: 127\.0\.0\.1:1: .*ECONNREFUSED/,
  )
})
