/**
 * The books on a PostgreSQL primary with a synchronous standby: the promoted standby has every
 * acknowledged commit once, and a former owner commits nothing more.
 */
import { join } from 'node:path'
import t from 'tap'
import { systemPause } from '../../src/base/clock.js'
import {
  checkTimeline,
  connectToPrimary,
  parseStoreUrl,
  type PostgresTarget,
} from '../../src/store/postgres/connection.js'
import { readServerFigures } from '../../src/store/postgres/server_figures.js'
import { timelinesIn } from '../../src/store/postgres/timelines.js'
import { Deposed, type Store } from '../../src/store/store.js'
import { eventually } from '../support/eventually.js'
import { connectedTo, requirePostgres } from '../support/postgres_server.js'
import { startReplicated } from '../support/replicated_postgres.js'
import { anIntent, batchOf } from '../store/commit_rows.js'
import { tempFolder } from '../support/temp_folder.js'
import { booksOf, loadUntilFailure, openOwner, type OwnerUnderLoad } from './owner_under_load.js'

requirePostgres(t)

const KILLS = 2
const ACKNOWLEDGED_BEFORE = 30

const servers = await startReplicated(t)
/** Acknowledged by any owner. */
const acknowledged: string[] = []
const sent: string[] = []

const isUnderWay = (owner: OwnerUnderLoad): Promise<true> =>
  eventually(
    'many batches are acknowledged',
    () => owner.acknowledged.length >= ACKNOWLEDGED_BEFORE || undefined,
  )

for (let kill = 1; kill <= KILLS; kill++) {
  t.test(`kill -9 of the primary between and in commits, ${kill}`, async (t) => {
    if (kill > 1) await servers.rebuild()
    const owner = loadUntilFailure(await openOwner(servers.url, `owner ${kill}`), `kill${kill}`)
    t.teardown(() => owner.store.close().catch(() => undefined))
    await isUnderWay(owner)
    await servers.killPrimary()
    t.ok((await owner.failed) instanceof Error)
    await servers.promote()
    const next = await openOwner(servers.url, `next ${kill}`)
    acknowledged.push(...owner.acknowledged)
    sent.push(...owner.sent)
    const books = await booksOf(next)
    holds(t, books.ids)
    t.equal(books.lastBatch, books.ids.length, 'each batch is there once')
    await commitOne(next, `pi_next${kill}`)

    const third = await openOwner(servers.url, `third ${kill}`)
    await t.rejects(next.commit(batchOf({ intents: [anIntent('pi_of_former_owner')] })), Deposed)
    await t.rejects(next.barrier(), Deposed)
    await next.close()
    t.equal((await booksOf(third)).lastBatch, books.lastBatch + 1)
    await third.close()
  })
}

t.test('a primary that resumes after the promotion acknowledges nothing', async (t) => {
  await servers.rebuild()
  const owner = loadUntilFailure(await openOwner(servers.url, 'paused'), 'paused')
  t.teardown(() => owner.store.close().catch(() => undefined))
  await isUnderWay(owner)
  const resume = await servers.freezePrimary()
  t.teardown(resume)
  await servers.promote()
  const next = await openOwner(servers.primaryUrl(), 'next')
  t.teardown(() => next.close())
  const before = await booksOf(next)
  await commitOne(next, 'pi_meanwhile')
  resume()
  await servers.untilFormerWaits()
  acknowledged.push(...owner.acknowledged)
  sent.push(...owner.sent)
  const books = await booksOf(next)
  holds(t, books.ids)
  t.equal(books.lastBatch, before.lastBatch + 1)
  const known = owner.acknowledged.length
  await servers.killFormer()
  t.ok((await owner.failed) instanceof Error)
  t.equal(owner.acknowledged.length, known, 'the pending commit is not acknowledged')
  t.same(await booksOf(next), books)
})

t.test('an owner serves only while commits wait for a standby', async (t) => {
  await servers.rebuild()
  const admin = await connectedTo(t, servers.primaryUrl(), 'public')
  const setStandbys = async (names: string): Promise<void> => {
    await admin.exec(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await admin.exec('SELECT pg_reload_conf()')
  }
  await admin.exec(`ALTER SYSTEM SET synchronous_commit = 'off'`)
  const failed = async (store: Store): Promise<Error> =>
    new Promise((resolve) => store.onFailure(resolve))
  const owner = await openOwner(servers.url, 'required', { isSyncRequired: true })
  const reporting = { shard: 'books_2', isSyncRequired: false }
  const other = await openOwner(servers.url, 'reported', reporting)
  t.match(owner.synchrony?.(), { fault: null, standbys: 1 }, 'the session sets synchronous_commit')
  let written = 0
  const { standbys } = await eventually('a standby reports its lag', async () => {
    await commitOne(owner, `pi_replayed_${(written += 1)}`)
    const found = await readServerFigures(admin)
    return found.standbys.length > 0 && found
  })
  t.match(standbys, [{ name: /./, lagSeconds: Number }])

  const ended = failed(owner)
  await setStandbys('')
  t.match(await ended, { message: /synchronous_standby_names is empty/ })
  await owner.close()
  const reason = /synchronous_standby_names is empty: commits wait for no standby/
  await eventually('it is reported', () => reason.test(other.synchrony?.()?.fault ?? ''))

  let isTaken = false
  let looks = 0
  const pause = (ms: number): Promise<void> => {
    looks += 1
    return systemPause(ms / 20)
  }
  const waiting = openOwner(servers.url, 'waiting', { isSyncRequired: true, pause })
  waiting.then(() => (isTaken = true)).catch(() => undefined)
  await eventually('it looks again and again', () => looks > 5)
  t.notOk(isTaken, 'it does not take over')
  await setStandbys('*')
  await commitOne(await waiting, 'pi_synchronous')
  await (await waiting).close()
  await eventually('it is reported', () => other.synchrony?.()?.fault === null)
  await other.close()
  // The next standby is a copy, with these settings.
  await admin.exec('ALTER SYSTEM RESET ALL')
  await admin.exec('SELECT pg_reload_conf()')
})

t.test('a former primary that still answers is not used, whatever the order', async (t) => {
  await servers.rebuild()
  const former = parseStoreUrl(servers.primaryUrl())
  const timelines = timelinesIn(join(tempFolder(t), 'timeline.json'), false)
  const waiting = await connectToPrimary(former, 'public', 'test')
  t.teardown(() => waiting.close())
  timelines.used(waiting)
  const hosts = parseStoreUrl(servers.url)
  await t.resolves(checkTimeline(waiting, hosts), 'no server was promoted')

  await servers.promote()
  const promoted = parseStoreUrl(servers.primaryUrl())[0]?.port
  for (const order of [hosts, [...hosts].reverse()]) {
    const found = await connectToPrimary(order, 'public', 'test', timelines.known())
    t.equal(found.target.port, promoted)
    timelines.used(found)
    await found.close()
  }
  await t.rejects(checkTimeline(waiting, hosts), { name: 'NoAnswer', message: /was promoted/ })
  await t.rejects(
    connectToPrimary(former, 'public', 'test', timelines.known()),
    /is a former primary: its timeline [0-9]+ is before [0-9]+/,
    'also when it alone answers',
  )
  const reversed = urlWithHosts(servers.url, [...hosts].reverse())
  for (const url of [servers.url, reversed]) {
    const owner = await openOwner(url, 'after')
    await commitOne(owner, `pi_after_${url === reversed ? 2 : 1}`)
    await owner.close()
  }
  await servers.killFormer()
})

const urlWithHosts = (url: string, hosts: readonly PostgresTarget[]): string =>
  url.replace(/@[^/]+/, `@${hosts.map(({ host, port }) => `${host}:${port}`).join()}`)

async function commitOne(store: Awaited<ReturnType<typeof openOwner>>, id: string): Promise<void> {
  sent.push(id)
  await store.commit(batchOf({ intents: [anIntent(id)] }))
  acknowledged.push(id)
}

/** Acknowledged ≤ books ≤ sent, nothing twice. */
function holds(
  t: { same(a: unknown, b: unknown, what: string): void },
  ids: readonly string[],
): void {
  const [inBooks, wereSent] = [new Set(ids), new Set(sent)]
  t.same(
    acknowledged.filter((id) => !inBooks.has(id)),
    [],
    'every acknowledged intent is in the books',
  )
  t.same(
    ids.filter((id) => !wereSent.has(id)),
    [],
    'every intent in the books was sent',
  )
  t.same([...inBooks], ids, 'no intent is in the books twice')
}
