/** Settings for all shards of a cluster, applied in the books of one. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { StoredCaller, StoredToken } from '../../src/auth/callers.js'
import { DAY, instant } from '../../src/base/clock.js'
import type { RequestId } from '../../src/base/ids.js'
import { callerSetting } from '../../src/processor/commands/callers/caller_setting.js'
import { getBalances } from '../../src/processor/commands/funds/balances_get.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { listRates } from '../../src/processor/commands/operators/rates_list.js'
import { listRoutes } from '../../src/processor/commands/operators/route_set.js'
import {
  pauseSetting,
  rateSetting,
  ratesSetting,
  resumeSetting,
  routeSetting,
  type SettingContent,
} from '../../src/processor/commands/operators/shared_setting.js'
import type { Store } from '../../src/store/store.js'
import { rawBooks } from '../support/books.js'
import { tempFolder } from '../support/temp_folder.js'
import { settingsOf, testSettings, type TestSettings } from '../support/shared_settings.js'
import { anIntent } from '../support/requests.js'
import {
  codeOf,
  createWorld,
  DEMO,
  viewOf,
  type World,
  type WorldOptions,
} from '../support/world.js'
import { aRoute, operatorLogOf } from './scenarios.js'

const SET_AT = Date.UTC(2026, 10, 20)
const REQUEST = 'req_01KA00000000000000000000000' as RequestId

/** A world, and a cluster whose settings its books apply. */
async function openCluster(t: Test, options: WorldOptions = {}) {
  const world = await createWorld(t, options)
  const cluster = testSettings(() => SET_AT)
  return {
    world,
    cluster,
    set: (content: SettingContent | null) => set(cluster, content),
    catchUp: () => settingsOf(world, cluster).catchUp(),
  }
}

async function set(cluster: TestSettings, content: SettingContent | null): Promise<void> {
  if (content === null) throw new Error('an invalid setting')
  await cluster.appendSetting({ ...content, actor: 'ann', reason: 'a test', requestId: REQUEST })
}

const rate = (text: string): SettingContent | null => rateSetting('THB', text)

async function appliedIn({ folder }: World) {
  const books = await rawBooks(folder)
  const rows = await books.all<{ version: number }>(
    'SELECT version FROM applied_settings ORDER BY version',
  )
  const log = await books.all<{ action: string; evidence: string }>(
    `SELECT action, evidence FROM operator_log WHERE action LIKE 'set_%' ORDER BY id`,
  )
  const rates = await books.all<{ rate: string }>(`SELECT rate FROM rates WHERE currency = 'THB'`)
  await books.close()
  return {
    versions: rows.map(({ version }) => version),
    /** Action and evidence of each line. */
    log: log.map(({ action, evidence }) => `${action}, ${evidence}`),
    rate: rates[0]?.rate,
  }
}

t.test('they are applied in order, as the operator that set them', async (t) => {
  const { world, cluster, set } = await openCluster(t, { rules: { rateMaxAgeMs: DAY } })
  await set(rate('36.10'))
  await set(routeSetting(aRoute({ platform_fixed: '7' })))
  const settings = settingsOf(world, cluster)
  await settings.catchUp()
  t.match(await appliedIn(world), { versions: [1, 2], rate: '36.10' })
  await set(rate('36.20'))
  await settings.catchUp()
  await settings.catchUp()
  t.same(await appliedIn(world), {
    versions: [1, 2, 3],
    log: [1, 2, 3].map((v) => `set_${v === 2 ? 'route' : 'rate'}, settings version ${v}`),
    rate: '36.20',
  })
  const books = await rawBooks(world.folder)
  const logged = await books.all(
    'SELECT actor, reason, subject, request_id FROM operator_log ORDER BY id DESC LIMIT 1',
  )
  await books.close()
  t.match(logged, [{ actor: 'ann', reason: 'a test', subject: 'THB 36.20', request_id: REQUEST }])
  t.match(viewOf<{ data: object[] }>(await world.run(listRates())).data, [
    // A shard that applies a rate late does not make it younger.
    ...['production', 'sandbox'].map((environment) => ({
      ...{ environment, currency: 'THB', rate: '36.20', set_by: 'ann', before: '36.10' },
      ...{ set_at: '2026-11-20T00:00:00.000Z', is_too_old: true },
    })),
    { currency: 'VND' },
  ])
  const { data } = viewOf<{ data: object[] }>(await world.run(listRoutes()))
  t.ok(data.some((route) => 'platform_fixed' in route && route.platform_fixed === '7'))
})

/** Counts the commits that have settings. */
function counting(counted: { commits: number }): (store: Store) => Store {
  return (store) => ({
    ...store,
    commit: (batch) => {
      if (batch.rows.appliedSettings !== undefined) counted.commits += 1
      return store.commit(batch)
    },
  })
}

t.test('a long history: few commits, and for a new shard the newest of each key', async (t) => {
  const counted = { commits: 0 }
  const folder = tempFolder(t)
  const homeOf = (name: string) => {
    mkdirSync(join(folder, name))
    return { testdir: () => join(folder, name), teardown: t.teardown.bind(t) }
  }
  const away = await createWorld(homeOf('away'), { store: counting(counted) })
  const added = await createWorld(homeOf('added'))
  const cluster = testSettings(() => SET_AT)
  await set(cluster, rateSetting('VND', '26000'))
  await settingsOf(away, cluster).catchUp()
  for (let count = 1; count <= 20_000; count++) await set(cluster, rate(`36.${count}`))
  await set(cluster, routeSetting(aRoute({ platform_fixed: '7' })))
  counted.commits = 0
  await settingsOf(away, cluster).catchUp()
  t.match(await appliedIn(away), { rate: '36.20000', versions: { length: 20_002 } })
  // How many go into one depends on the speed of the machine.
  t.ok(counted.commits <= 1_000, `${counted.commits} commits of 20,000 settings`)
  await settingsOf(added, cluster, 'books_2').catchUp()
  t.match(await appliedIn(added), { rate: '36.20000', versions: [1, 20_001, 20_002] })
  await set(cluster, rate('36.5'))
  await settingsOf(added, cluster, 'books_2').catchUp()
  t.match(await appliedIn(added), { rate: '36.5', versions: { length: 4 } })
})

t.test('a new shard applies the end of a pause that it never had', async (t) => {
  const { world, set, catchUp } = await openCluster(t)
  await set(pauseSetting('rail sandbox'))
  await set(resumeSetting('rail sandbox'))
  await catchUp()
  t.equal(world.memory().settingsVersion, 2)
  const books = await rawBooks(world.folder)
  const pauses = await books.all('SELECT subject, reason, actor, resumed_at FROM submission_pauses')
  await books.close()
  t.same(pauses, [{ subject: 'rail sandbox', reason: 'a test', actor: 'ann', resumed_at: SET_AT }])
  t.equal(world.memory().pauses.size, 0)
})

const DIGESTS = ['a', 'b', 'c'].map((character) => character.repeat(64))
const [FIRST, SECOND, OTHERS] = DIGESTS as [string, string, string]

t.test('a caller of a shard takes what it lacks from a setting, and nothing back', async (t) => {
  const { world, set, catchUp } = await openCluster(t)
  const token = (digest: string, endsAt: number | null = null): StoredToken => ({
    ...{ digest, createdAt: instant(1) },
    endsAt: endsAt === null ? null : instant(endsAt),
  })
  const given = async (name: string, fields: Partial<StoredCaller>): Promise<unknown> => {
    const caller = { name, kind: 'service', roles: [], partners: null } as const
    const fresh = { caller, certificate: null, tokens: [], createdAt: instant(1), revokedAt: null }
    await set(callerSetting('create_caller', { ...fresh, ...fields }))
    await catchUp()
    return world.memory().callers.get(name)
  }
  await given('other', { tokens: [token(OTHERS)], certificate: 'other.internal' })
  const made = { tokens: [token(FIRST)], certificate: 'till.internal' }
  t.match(await given('till', made), made)

  const later = { ...made, tokens: [token(SECOND)], createdAt: instant(2) }
  const rotated = await given('till', later)
  t.same((rotated as StoredCaller).tokens, [token(FIRST, SET_AT), token(SECOND)])
  t.match(rotated, { createdAt: 1 }, 'it was created here before')
  const ended = await given('till', { tokens: [token(SECOND, 7)] })
  t.same((ended as StoredCaller).tokens, [token(FIRST, SET_AT), token(SECOND, 7)])
  const without = await given('till', { tokens: [] })
  t.same((without as StoredCaller).tokens, [token(FIRST, SET_AT), token(SECOND, 7)], 'not longer')

  const taken = { tokens: [token(OTHERS)], certificate: 'other.internal' }
  const refused = await given('till', taken)
  t.match(refused, { certificate: null, tokens: [{ digest: FIRST }, { digest: SECOND }] })
  t.equal((refused as StoredCaller).tokens.length, 2, 'the credential is that of another caller')

  t.match(await given('till', { revokedAt: instant(9) }), { revokedAt: 9 })
  t.match(await given('till', made), { revokedAt: 9 }, 'it stays revoked')
  await world.rebuild()
  t.match(world.memory().callers.get('till'), { revokedAt: 9 })
})

type Loss = 'the commit' | 'its answer'

/** Fails once at the commit that has a setting. */
function crashing(loss: Loss, crash: { isDue: boolean }): (store: Store) => Store {
  return (store) => ({
    ...store,
    commit: async (batch) => {
      const isHit = crash.isDue && batch.rows.appliedSettings !== undefined
      if (isHit) crash.isDue = false
      if (isHit && loss === 'the commit') throw new Error('killed')
      await store.commit(batch)
      if (isHit) throw new Error('killed')
    },
  })
}

for (const loss of ['the commit', 'its answer'] as const) {
  t.test(`a crash that loses ${loss} applies each once`, async (t) => {
    const crash = { isDue: false }
    let isStopped: () => void = () => undefined
    const stopped = new Promise<void>((resolve) => (isStopped = resolve))
    const { world, set, catchUp } = await openCluster(t, {
      store: crashing(loss, crash),
      onStop: () => isStopped(),
    })
    await set(rate('36.10'))
    await catchUp()
    await set(rate('36.20'))
    await set(rate('36.30'))
    crash.isDue = true
    void catchUp()
    await stopped
    const kept = loss === 'the commit' ? [1] : [1, 2, 3]
    const left = await appliedIn(world)
    t.same(left.versions, kept)
    t.equal(left.rate, kept.length === 1 ? '36.10' : '36.30', 'with its effect, or not at all')
    t.equal(left.log.length, kept.length)
    await world.rebuild()
    t.equal(world.memory().settingsVersion, kept.at(-1))
    await catchUp()
    const log = [1, 2, 3].map((version) => `set_rate, settings version ${version}`)
    t.same(await appliedIn(world), { versions: [1, 2, 3], log, rate: '36.30' })
  })
}

t.test('one that cannot be applied holds up those after it, and writes', async (t) => {
  const { world, cluster, set, catchUp } = await openCluster(t)
  await set(rate('36.10'))
  await catchUp()
  await set({ kind: 'of a later version', key: '', value: '' })
  await set(rate('36.30'))
  await catchUp()
  t.match(await appliedIn(world), { versions: [1], rate: '36.10' })
  t.same([...cluster.faults], [['books_1', { version: 2, cause: 'invalid_request' }]])
  const write = createIntent(DEMO, anIntent())
  t.equal(codeOf(await world.run(write)), 'configuration_error')
  t.equal(codeOf(await world.run(getBalances(DEMO))), 'ok', 'reads go on')
  t.equal(codeOf(await world.run(listRates())), 'ok', 'operators go on')
  cluster.stored[1] = { ...cluster.stored[1]!, kind: 'route', value: 'no JSON' }
  await catchUp()
  t.same([...cluster.faults], [['books_1', { version: 2, cause: 'internal_error' }]])
  t.match(await appliedIn(world), { versions: [1], rate: '36.10' })
  cluster.stored[1] = { ...cluster.stored[1], kind: 'rate', key: 'VND', value: '26000' }
  await catchUp()
  t.match(await appliedIn(world), { versions: [1, 2, 3], rate: '36.30' })
  t.equal(cluster.faults.size, 0)
  t.equal(codeOf(await world.run(write)), 'ok')
})

t.test('one that an operator skips is passed over where it cannot be applied', async (t) => {
  const { world, cluster, set, catchUp } = await openCluster(t)
  await set(rate('36.10'))
  await catchUp()
  await set({ kind: 'of a later version', key: 'k', value: '' })
  await set(rate('36.30'))
  await cluster.skipSetting(3, { actor: 'ben', reason: 'a version that can be applied' })
  await catchUp()
  t.equal(cluster.faults.get('books_1')?.version, 2)
  await world.rebuild()
  t.equal(world.memory().settingsFault, null, 'of a new owner: found again')
  await catchUp()
  t.equal(codeOf(await world.run(createIntent(DEMO, anIntent()))), 'configuration_error')
  await cluster.skipSetting(2, { actor: 'ben', reason: 'made by mistake' })
  await catchUp()
  t.same([...cluster.faults], [])
  t.equal(codeOf(await world.run(createIntent(DEMO, anIntent()))), 'ok')
  t.match(await appliedIn(world), { versions: [1, 2, 3], rate: '36.30' })
  const skipped = { actor: 'ben', reason: 'made by mistake', action: 'skip_setting' }
  t.match(await operatorLogOf(t, 'version 2: of a later version k'), [skipped])
})

t.test('books that have applied those of another cluster are not served', async (t) => {
  const { world, set, catchUp } = await openCluster(t)
  await set(rate('36.10'))
  await catchUp()
  const another = testSettings(() => SET_AT)
  await t.rejects(settingsOf(world, another).catchUp(), /settings version 1 of another cluster/)
})

t.test('it looks again by itself, until it is stopped', async (t) => {
  const { world, cluster, set } = await openCluster(t)
  const looked = new Promise<void>((resolve) => {
    const { newestSettings } = cluster
    const settings = settingsOf(world, {
      ...cluster,
      newestSettings: async () => {
        const found = await newestSettings()
        if (found.length > 0) void settings.stop().then(resolve)
        return found
      },
    })
    settings.start()
  })
  await set(rate('36.10'))
  await looked
  t.match(await appliedIn(world), { versions: [1] }, 'what it has read is applied before the end')
})

t.test('only what can be applied is a setting', async (t) => {
  t.equal(rateSetting('THB', '0'), null)
  t.equal(rateSetting('USD', '1'), null)
  t.equal(rateSetting('nowhere', '1'), null)
  t.equal(rateSetting('THB', 'many'), null)
  t.equal(rateSetting('THB', '36', 'moon'), null)
  t.equal(routeSetting(aRoute({ country: 'Nowhere' })), null)
  t.equal(ratesSetting([]), null)
  const rates = [
    { currency: 'THB', rate: '' },
    { currency: 'VND', rate: '26000' },
  ]
  t.match(ratesSetting(rates), { kind: 'rates', key: 'THB, VND' })
  t.match(rateSetting('THB', '36'), { kind: 'rate', key: 'THB', value: '36' })
  t.match(rateSetting('THB', '36', 'production'), { key: 'production THB', value: '36' })
  t.match(routeSetting(aRoute()), { kind: 'route', key: /^[A-Z]{2} [A-Z]{3}$/ })
})
