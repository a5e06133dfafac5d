/** The cluster schema, and candidates that wait for its shards. */
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import type { Store } from '../../src/store/store.js'
import type { OwnedShard } from '../../src/store/cluster/candidate.js'
import { newestVersion } from '../../src/store/postgres/migrate.js'
import { BOOKS } from '../../src/store/postgres/store.js'
import { holderOf, openCluster, type Cluster } from '../../src/store/cluster/cluster.js'
import { createMember } from '../../src/processor/cluster/member.js'
import { GIVE_UP_AFTER_MS } from '../../src/processor/cluster/unreached.js'
import { dueIds } from '../support/due_ids.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { anIntent, batchOf } from './commit_rows.js'
import {
  pause,
  type Processor,
  processor,
  severalLooks,
  epochOf,
  endSession,
  ownedShard,
  recordOf,
  epochOfShard,
} from './cluster_processors.js'
import { connected, newShard, server } from './postgres_books.js'

const waitingNames = async ({ cluster }: Processor): Promise<string[]> =>
  (await cluster.candidates()).map(({ name }) => name)

t.test('a shard is added once, and its first owner creates its books', async (t) => {
  const one = await processor(t)
  const shard = newShard()
  t.ok(await one.cluster.addShard(shard))
  t.notOk(await one.cluster.addShard(shard))
  t.match(await one.cluster.placeOf(shard), { shard, address: '', epoch: 0 })
  const { books } = await one.waits(shard)
  await books.commit(batchOf({ intents: [anIntent('pi_1')] }))
  t.ok(await one.cluster.announce(shard, 1, '127.0.0.1:1'))
  const [row] = (await one.cluster.shards()).filter((each) => each.shard === shard)
  t.match(row, { holder: one.name, isConnected: true, epoch: 1, address: '127.0.0.1:1' })
})

t.test('only the newest owner publishes an address', async (t) => {
  const [one, two] = [await processor(t), await processor(t)]
  const shard = newShard()
  await one.cluster.addShard(shard)
  t.ok(await two.cluster.announce(shard, 2, 'two:1'))
  t.notOk(await one.cluster.announce(shard, 1, 'one:1'), 'a former owner that resumed')
  t.notOk(await one.cluster.announce(shard, 2, 'one:1'))
  t.ok(await one.cluster.announce(shard, 1, 'restored:1', true), 'of books that were restored')
  t.match(await one.cluster.placeOf(shard), { address: 'restored:1', epoch: 2 })
  t.ok(await two.cluster.announce(shard, 3, 'two:1'))
  t.match(await one.cluster.placeOf(shard), { address: 'two:1', epoch: 3 })
})

t.test('a shard name that is not safe in SQL is rejected', async (t) => {
  const one = await processor(t)
  await t.rejects(one.cluster.addShard('books; DROP SCHEMA cluster'), /check/)
})

t.test('a statement without an answer fails: the candidate starts again', async (t) => {
  const { cluster } = await processor(t)
  const blocker = await connected(t, 'cluster')
  await blocker.exec('BEGIN; LOCK TABLE shards IN ACCESS EXCLUSIVE MODE')
  await t.rejects(cluster.seenShards(), { name: 'NoAnswer' })
  await blocker.exec('ROLLBACK')
})

t.test('a processor name is held by one process at a time', async (t) => {
  const first = await processor(t, 'same')
  let isTaken = false
  const second = openCluster({
    ...{ url: server.url, name: 'same', pause },
    onNameTaken: () => (isTaken = true),
  })
  await eventually('the second processor waits', () => isTaken)
  t.same(await waitingNames(first), [], 'it has not said so')
  await first.cluster.beatWaiting({ address: 'a:1', prefers: null, gateways: 0, cannotTake: {} })
  t.same(await waitingNames(first), ['same'])
  await first.cluster.close()
  await (await second).close()
})

t.test('a partner is placed in one shard, also by concurrent requests', async (t) => {
  const [one, two] = [await processor(t), await processor(t)]
  const [here, there] = [newShard(), newShard()]
  for (const shard of [here, there]) await one.cluster.addShard(shard)
  t.equal(await one.cluster.whereIs('acme'), undefined)
  const places = await Promise.all([
    one.cluster.place('acme', here),
    two.cluster.place('acme', there),
  ])
  t.equal(places[0].shard, places[1].shard)
  t.match(await two.cluster.whereIs('acme'), places[0])
  t.match(
    await one.cluster.place('acme', here),
    places[0],
    'a repeated request returns the same place',
  )
})

t.test('partners of older books are placed, and those of another shard are reported', async (t) => {
  const one = await processor(t)
  const [here, there] = [newShard(), newShard()]
  for (const shard of [here, there]) await one.cluster.addShard(shard)
  t.same(await one.cluster.placeAll(['old-1', 'old-2'], here), [])
  t.same(
    await one.cluster.placeAll(['old-1', 'old-2', 'old-3'], here),
    [],
    'repeated at each start',
  )
  t.same(await one.cluster.placeAll(['old-2', 'old-4'], there), ['old-2'])
  t.match(await one.cluster.whereIs('old-4'), { shard: there })
})

t.test('reports that follow a partner are stored together, in their order', async (t) => {
  const { cluster } = await processor(t)
  const shard = newShard()
  await cluster.addShard(shard)
  await cluster.place('reported', shard)
  const of = { partner: 'reported', rail: 'bank', finalityWindowMs: 7_000 }
  const reports = ['{"id":"é\\"😀"}', '{}', '[]'].map((report) => ({ ...of, report }))
  await cluster.forwardReports(reports)
  const stored = await cluster.reportsFor(shard, 10)
  t.match(stored, reports)
  await cluster.deleteReports(stored.map(({ id }) => id))
  t.same(await cluster.reportsFor(shard, 10), [])
})

t.test('settings for all shards are appended, one version for each', async (t) => {
  const [one, two] = [await processor(t), await processor(t)]
  const rate = (value: string) => ({
    ...{ kind: 'rate', key: 'THB', value, actor: 'ann', reason: 'a test', requestId: null },
  })
  const versions: number[] = []
  for (let round = 0; round < 10; round++) {
    const both = [one, two].map(({ cluster }, place) =>
      cluster.appendSetting(rate(String(2 * round + place))),
    )
    versions.push(...(await Promise.all(both)))
  }
  const stored = await one.cluster.settingsFrom(1, 100)
  t.same(
    stored.map(({ version }) => version),
    Array.from({ length: 20 }, (_, place) => place + 1),
  )
  for (const { version, value, at } of stored) {
    t.equal(versions[Number(value)], version)
    t.ok(at >= (stored[version - 2]?.at ?? 0))
  }
  t.match(await two.cluster.settingsFrom(19, 1), [{ ...rate(stored[18]!.value), version: 19 }])

  const shard = newShard()
  await one.cluster.addShard(shard)
  t.match(await recordOf(one, shard), { settingsVersion: 0, settingsBehind: 20 }, 'no books yet')
  const { books } = await one.waits(shard)
  const applied = stored.slice(0, 3).map(({ version, kind, key, value, at, actor }) => {
    return { version, kind, key, value, set_at: at, actor, applied_at: 1 }
  })
  await books.commit(batchOf({ appliedSettings: applied }))
  t.match(await recordOf(two, shard), { settingsVersion: 3, settingsBehind: 17 })
})

t.test('a shard that cannot apply a setting is seen, and the setting is skipped', async (t) => {
  const [one, two] = [await processor(t), await processor(t)]
  const shard = newShard()
  await one.cluster.addShard(shard)
  const set = (key: string, value: string): Promise<number> =>
    one.cluster.appendSetting({
      ...{ kind: 'rate', key, value, actor: 'ann', reason: 'a test', requestId: null },
    })
  const bad = await set('QQQ', '1')
  await set('RRR', '1')
  const newest = await set('RRR', '2')
  const found = await two.cluster.newestSettings()
  t.equal(found.filter(({ key }) => key === 'RRR').length, 1)
  t.match(found.at(-1), { version: newest, key: 'RRR', value: '2', skippedBy: null })
  t.same(
    found.map(({ version }) => version),
    found.map(({ version }) => version).sort((a, b) => a - b),
  )

  const by = { actor: 'ben', reason: 'made by mistake' }
  t.equal(await two.cluster.skipSetting(bad, by), null, 'no shard is held up by it')
  await one.cluster.reportSettingsFault(shard, { version: bad, cause: 'internal_error' })
  await one.cluster.reportSettingsFault(shard, { version: bad, cause: 'invalid_request' })
  const fault = { version: bad, cause: 'invalid_request', kind: 'rate', key: 'QQQ' }
  t.match(await recordOf(two, shard), { settingsFault: fault })
  t.match(await two.cluster.skipSetting(bad, by), { version: bad, skippedBy: 'ben' })
  t.match(await two.cluster.settingsFrom(bad, 1), [
    { version: bad, actor: 'ann', skippedBy: 'ben', skipReason: 'made by mistake' },
  ])
  await one.cluster.reportSettingsFault(shard, null)
  t.match(await recordOf(two, shard), { settingsFault: null })
})

t.test('a spare waits while the owner lives, and takes a released shard at once', async (t) => {
  const [one, spare] = [await processor(t), await processor(t)]
  const shard = newShard()
  await one.cluster.addShard(shard)
  const { books } = await one.waits(shard)
  await books.commit(batchOf({ intents: [anIntent('pi_1')] }))
  const owned = spare.waits(shard)
  await severalLooks(spare)
  t.ok((await waitingNames(one)).includes(spare.name))
  await books.close()
  const next = (await owned).books
  t.equal(await epochOf(next), 2)
  t.same(await dueIds(next, 'intents', instant(5), 9), ['pi_1'])
  await spare.cluster.setServing()
  t.notOk((await waitingNames(one)).includes(spare.name))
})

t.test('the shard of a killed owner is taken over, and the former owner is fenced', async (t) => {
  const [one, spare] = [await processor(t), await processor(t)]
  const shard = newShard()
  await one.cluster.addShard(shard)
  const { books } = await one.waits(shard)
  const owned = spare.waits(shard)
  await severalLooks(spare)
  await endSession(t, shard)
  await severalLooks(spare)
  spare.now = 1_999
  await severalLooks(spare)
  t.equal(await epochOfShard(t, shard), 1, 'time for its restart')
  spare.now = 4_000
  t.equal(await epochOf((await owned).books), 2)
  await t.rejects(books.commit(batchOf({ intents: [anIntent('pi_1')] })))
})

t.test('a restarted owner precedes the spare, and a late one waits', async (t) => {
  const [one, spare] = [await processor(t), await processor(t)]
  const shard = newShard()
  await one.cluster.addShard(shard)
  await one.waits(shard)
  const owned = spare.waits(shard)
  await severalLooks(spare)
  await endSession(t, shard)
  const again = await one.waits(shard)
  t.equal(await epochOf(again.books), 2, 'without waiting')
  spare.now = 3_000
  await severalLooks(spare)
  t.equal(await epochOfShard(t, shard), 2)
  await endSession(t, shard)
  await severalLooks(spare)
  spare.now = 6_000
  t.equal(await epochOf((await owned).books), 3)
  const late = one.waits(shard)
  const looks = one.looks
  await eventually('the late owner waits', () => one.looks > looks + 3)
  await (await owned).books.close()
  t.equal(await epochOf((await late).books), 4)
})

t.test('exactly one of several spares takes over', async (t) => {
  const one = await processor(t)
  const shard = newShard()
  await one.cluster.addShard(shard)
  const { books } = await one.waits(shard)
  const spares = [await processor(t), await processor(t), await processor(t)]
  const owners: (OwnedShard<Store> & { readonly by: string })[] = []
  for (const spare of spares)
    void spare.waits(shard).then((owned) => owners.push({ ...owned, by: spare.name }))
  await Promise.all(spares.map(severalLooks))
  let current = books
  for (let taken = 1; taken <= spares.length; taken++) {
    await current.close()
    await eventually('a spare takes over', () => owners.length >= taken)
    const waiting = spares.filter(({ name }) => !owners.some((each) => each.by === name))
    await Promise.all(waiting.map(severalLooks))
    t.equal(owners.length, taken)
    current = owners[taken - 1]?.books ?? current
    t.equal(await epochOf(current), taken + 1)
  }
})

t.test(
  'a spare prefers its previous shard, and skips a shard whose master keys it lacks',
  async (t) => {
    const [one, spare] = [await processor(t), await processor(t)]
    const [first, second] = [newShard(), newShard()]
    for (const shard of [first, second]) await one.cluster.addShard(shard)
    for (const shard of [first, second]) {
      const { books } = await one.waits(shard)
      await books.commit(
        batchOf({ masterKeys: [{ kid: `k_${shard}`, sealing_since: 1, emptied_at: null }] }),
      )
      await books.close()
    }
    const sql = await connected(t, second)
    await sql.run('UPDATE owner SET holder = ?', [holderOf(spare.name, 'here')])
    spare.masterKeys = [`k_${first}`, `k_${second}`]
    const had = await spare.waits()
    t.equal(had.shard, second)

    const other = await processor(t)
    other.masterKeys = [`k_${second}`]
    const owned = other.waits(first)
    await severalLooks(other)
    t.equal(await epochOfShard(t, first), 1)
    other.masterKeys = [`k_${first}`]
    t.equal((await owned).shard, first)
  },
)

t.test('a shard whose books a processor could not load is left to others', async (t) => {
  const [one, two] = [await processor(t), await processor(t)]
  const shard = newShard()
  await one.cluster.addShard(shard)
  await (await one.waits(shard)).books.close()
  const sql = await connected(t, shard)
  await sql.run('UPDATE owner SET holder = ?', [holderOf(one.name, 'here')])
  one.failedLoads = [shard]
  const again = one.waits(shard)
  await severalLooks(one)
  t.equal(await epochOfShard(t, shard), 1, 'although it had the shard')
  const said = async () => (await two.cluster.waitingProcessor(one.name))?.cannotTake[shard]
  t.equal(await eventually('it says so', said), 'it failed')
  await sql.run("UPDATE owner SET holder = ''")
  const { books } = await two.waits(shard)
  t.equal(await epochOf(books), 2)
  one.failedLoads = []
  await books.close()
  t.equal((await again).shard, shard)
})

t.test('a member takes its own shard first, and any other while that is served', async (t) => {
  const [one, two] = [await processor(t), await processor(t)]
  const [own, other] = [newShard(), newShard()]
  for (const shard of [own, other]) {
    await one.cluster.addShard(shard)
    await (await one.waits(shard)).books.close()
  }
  const first = await two.waits(other, [own, other])
  t.equal(first.shard, other, 'both are released')
  await two.cluster.setServing()
  const member = await processor(t)
  t.equal((await member.waits(own, [own, other])).shard, own)
  await member.cluster.setServing()

  const again = await processor(t)
  again.booksVersion = 0
  const waiting = again.waits(own, [own, other])
  const said = async () => (await one.cluster.waitingProcessor(again.name))?.cannotTake[other]
  await eventually('it says what it cannot take', said)
  t.match(await one.cluster.waitingProcessor(again.name), {
    ...{ address: `${again.name}:1`, prefers: own },
    cannotTake: { [other]: 'its books are of a newer version' },
  })
  await first.books.close()
  await severalLooks(again)
  t.equal(await epochOfShard(t, other), 2, 'books of a newer version are left to others')
  again.booksVersion = newestVersion(BOOKS)
  t.equal((await waiting).shard, other)
  const sql = await connected(t, 'cluster')
  await sql.run('UPDATE candidates SET beat_at = beat_at - 4000')
  t.same(await waitingNames(one), [], 'a candidate without heartbeats does not count')
})

t.test('a candidate says that it waits also where no standby confirms', async (t) => {
  const { cluster } = await processor(t)
  const sql = await connected(t, 'cluster')
  const confirmedBy = async (names: string): Promise<void> => {
    await sql.exec(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await sql.exec('SELECT pg_reload_conf()')
    const shown = 'SHOW synchronous_standby_names'
    await eventually('the server has read it', async () =>
      (await sql.all<{ synchronous_standby_names: string }>(shown)).every(
        (row) => row.synchronous_standby_names === names,
      ),
    )
  }
  await confirmedBy('nobody')
  await cluster.beatWaiting({ address: 'a:1', prefers: null, gateways: 0, cannotTake: {} })
  await confirmedBy('')
  t.ok(await cluster.waitingProcessor(cluster.name))
})

t.test('an owner that no gateway reaches gives its shard to one that they reach', async (t) => {
  const { one, spare, shard } = await ownedShard(t)
  await one.cluster.announce(shard, 0, 'one:1', true)
  const sql = await connected(t, 'cluster')
  await sql.run('UPDATE shards SET epoch = 0 WHERE shard = ?', [shard])
  let now = 0
  let gateways = 0
  let looks = 0
  const cluster: Cluster = {
    ...one.cluster,
    moveOf: (name) => {
      looks += 1
      return one.cluster.moveOf(name)
    },
  }
  const member = await createMember({ cluster, shard, epoch: 1, elapsed: () => now, pause, log })
  let movedTo: string | undefined
  member.onMove((reason) => (movedTo = reason))
  await member.serve('one:1', false, () => gateways)
  const severalLooks = async (): Promise<void> => {
    const before = looks
    await eventually('several looks', () => looks > before + 2)
  }

  await severalLooks()
  now += GIVE_UP_AFTER_MS
  await severalLooks()
  t.equal(movedTo, undefined, 'no gateway reaches any processor')
  t.equal(member.reachedInstead(), undefined)

  spare.gateways = 2
  await eventually('gateways reach the spare', () => member.reachedInstead() === spare.name)
  now += GIVE_UP_AFTER_MS - 1
  await severalLooks()
  t.equal(movedTo, undefined, 'not for long enough')
  gateways = 1
  await eventually('a gateway reaches the owner', () => member.reachedInstead() === undefined)
  now += GIVE_UP_AFTER_MS
  gateways = 0
  await eventually('none does', () => member.reachedInstead() === spare.name)
  await severalLooks()
  t.equal(movedTo, undefined, 'the time begins again')

  now += GIVE_UP_AFTER_MS
  await eventually('the owner leaves', () => movedTo === `the shard moves to ${spare.name}`)
})

t.test('another processor takes over when the named one ends before the take-over', async (t) => {
  const { one, spare, shard, books, taken } = await ownedShard(t)
  t.ok(await one.cluster.requestMove(shard, 1, 'p_dead'))
  await books.close()
  await severalLooks(spare)
  t.equal(await epochOfShard(t, shard), 1, 'the named processor has time')
  spare.now = 4_000
  t.equal(await epochOf((await taken).books), 2)
  t.ok(await spare.cluster.announce(shard, 2, 'spare:1'))
  t.match(await recordOf(one, shard), { holder: spare.name, moveTo: null, moves: 0 })
})
