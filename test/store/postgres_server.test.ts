/** The PostgreSQL server as the store finds it: its URL, its settings, its figures. */
import { connect, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { systemPause } from '../../src/base/clock.js'
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
import { listen } from '../support/listen.js'
import { SILENT_LOG } from '../support/logs.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { server, shortPause, newShard, opened, connected } from './postgres_books.js'

t.test('statements of a session wait for each other, a failed one included', async (t) => {
  const warnings: string[] = []
  const warned = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  const connection = await connectToPrimary(parseStoreUrl(server.url), 'public', 'a test')
  t.teardown(() => connection.close())
  const answers = await Promise.allSettled([
    connection.exec('BEGIN; CREATE TEMPORARY TABLE numbers (number integer) ON COMMIT DROP'),
    connection.run('INSERT INTO numbers VALUES (?)', [1]),
    connection.all('SELECT number FROM numbers'),
    connection.all('SELECT number FROM nothing'),
    connection.exec('ROLLBACK'),
    connection.all('SELECT 2 AS number'),
  ])
  t.match(answers, [
    { status: 'fulfilled' },
    { value: 1 },
    { value: [{ number: 1 }] },
    { status: 'rejected', reason: { code: '42P01' } },
    { status: 'fulfilled' },
    { value: [{ number: 2 }] },
  ])
  t.same(warnings, [], 'the driver has no queue of its own that could end with its next version')
})

t.test('what a database has for its sessions ends none of ours', async (t) => {
  const target = parseStoreUrl(server.url)
  const connection = await connectToPrimary(target, 'public', 'a test')
  t.teardown(() => connection.close())
  const database = `impatient_${newShard()}`
  await connection.exec(`CREATE DATABASE ${database} TEMPLATE template0`)
  t.teardown(() => connection.exec(`DROP DATABASE ${database} WITH (FORCE)`))
  const limits = await connection.all<{ name: string }>(
    `SELECT name FROM pg_settings WHERE context = 'user' AND name IN ('statement_timeout',
      'lock_timeout', 'idle_session_timeout', 'transaction_timeout')`,
  )
  t.ok(limits.length >= 3, 'transaction_timeout exists since version 17')
  const settings = new Map(limits.map(({ name }) => [name, '0']))
  for (const { name } of limits)
    await connection.exec(`ALTER DATABASE ${database} SET ${name} = '1s'`)
  await connection.exec(`ALTER DATABASE ${database} SET synchronous_commit = off;
    ALTER DATABASE ${database} SET default_transaction_isolation = serializable`)
  settings.set('synchronous_commit', 'on').set('default_transaction_isolation', 'read committed')
  await connection.exec(`ALTER DATABASE ${database} SET client_min_messages = error;
    ALTER DATABASE ${database} SET standard_conforming_strings = off`)
  settings.set('client_min_messages', 'warning').set('standard_conforming_strings', 'on')

  const there = target.map((each) => ({ ...each, database }))
  const session = await connectToPrimary(there, 'public', 'a test')
  t.teardown(() => session.close())
  for (const [name, value] of settings)
    t.same(await session.all(`SELECT current_setting(?) AS value`, [name]), [{ value }], name)

  await connection.exec(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
  const url = server.url.replace(/[^/]*$/, database)
  const owner = { url, shard: 'books_1', holder: 'one', log, elapsed: () => performance.now() }
  await t.rejects(
    openOwnedSchema({ ...owner, pause: systemPause }, BOOKS, { lists: 'by cost' }),
    /accepts writes: .* is read-only \(/,
  )
  const reader = await connectToPrimary(there, 'public', 'a backup')
  t.teardown(() => reader.close())
  t.same(await reader.all('SELECT 1 AS one'), [{ one: 1 }], 'what only reads goes on')
})

/** Sends and gets all, but with another key for cancels, as a connection pooler does. */
async function aPooler(t: Test, to: { host: string; port: number }): Promise<number> {
  const CANCEL_KEY = Buffer.from([0x4b, 0, 0, 0, 12])
  const pooler = createServer((client) => {
    const upstream = connect(to)
    client.on('error', () => upstream.destroy()).pipe(upstream)
    upstream.on('error', () => client.destroy())
    upstream.on('data', (chunk: Buffer) => {
      const at = chunk.indexOf(CANCEL_KEY)
      if (at >= 0) chunk.writeUInt32BE(1, at + CANCEL_KEY.length)
      client.write(chunk)
    })
    upstream.on('end', () => client.end())
  })
  return listen(t, pooler)
}

t.test('a connection pooler is refused', async (t) => {
  const [target] = parseStoreUrl(server.url)
  const port = await aPooler(t, target!)
  const refused = /is a connection pooler, such as PgBouncer: name the server itself/
  const there = [{ ...target!, host: '127.0.0.1', port }]
  await t.rejects(connectToPrimary(there, 'public', 'a test'), refused)
})

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
  const url = server.url.replace(`${host}:${port}`, between)
  const owner = { url, shard: newShard(), holder: 'one', log, elapsed: () => performance.now() }
  const owned = await openOwnedSchema({ ...owner, pause: systemPause }, BOOKS, { lists: 'by cost' })
  partitions.cut('one', 'postgres')
  await connection.close()
  await owned.close()
  t.pass('it does not hold up the end')
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
  for (const local of ['localhost', '127.0.0.1', '127.8.9.1', '[::1]'])
    t.equal(parseStoreUrl(`postgres://u@${local}/c`)[0]?.ssl, undefined, local)
  for (const named of ['127.db.example', '127.0.0.1.example'])
    t.ok(parseStoreUrl(`postgres://u@${named}/c`)[0]?.ssl, `TLS also for ${named}`)
  for (const none of ['', 'a,', '::1', 'a:b', 'a:0', 'a:65536', '[::1', '[a:b]'])
    t.throws(() => parseStoreUrl(`postgres://u@${none}/c`), /host or port that is none/, none)
  t.throws(() => parseStoreUrl('postgres://u@a/c?port=b'), /host or port that is none/)
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
      ...{ pause: systemPause, log: SILENT_LOG },
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
