/** Lists of intents: filters, pages, bounded searches, one user's intents. */
import t from 'tap'
import fc from 'fast-check'
import type { Corridor } from '../../src/qr/corridor.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import {
  findUserIntents,
  type FoundIntents,
} from '../../src/processor/commands/intents/user_intents_find.js'
import { listIntents, type IntentListRequest } from '../../src/processor/queries/intent_list.js'
import { listUserIntents } from '../../src/processor/queries/user_intent_list.js'
import type { TenantId } from '../../src/base/ids.js'
import { createCursors } from '../../src/processor/keys/cursors.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import type { PageRequest } from '../../src/processor/queries/page.js'
import type { Query } from '../../src/processor/queries/query.js'
import { userIntentsStatement } from '../../src/store/user_intent_rows.js'
import { changeContexts, inBooks, sqliteOnly } from '../support/books.js'
import { anIntent } from '../support/requests.js'
import {
  codeOf,
  createWorld,
  DEMO,
  PRODUCTION,
  viewOf,
  type World,
  MASTER,
} from '../support/world.js'
import { read, readAll, type PageView, planIn } from './scenarios.js'
import { beginLifecycle, cancelled, openTenant, intentAt } from './intent_lifecycle.js'

interface Listed {
  readonly intent_id: string
  readonly status: string
  readonly corridor: string
}

interface Made extends Listed {
  readonly user: string
  readonly at: number
}

/** Twelve intents of two users and both corridors, every third one cancelled; newest first. */
async function makeAll(world: World): Promise<Made[]> {
  const made: Made[] = []
  for (let i = 0; i < 12; i++) {
    world.clock.pass(1)
    const corridor: Corridor = i % 2 === 0 ? 'th_promptpay' : 'vn_vietqr'
    const user = `user ${i % 4 === 0 ? 'a' : 'b'}`
    const request = anIntent({ corridor, partner_user_id: user })
    const { intent_id } = viewOf<Listed>(await world.run(createIntent(DEMO, request)))
    const isCancelled = i % 3 === 0
    if (isCancelled) viewOf(await world.run(cancelIntent(DEMO, intent_id)))
    const status = isCancelled ? 'cancelled' : 'created'
    made.unshift({ intent_id, status, corridor, user, at: world.clock.now() })
  }
  return made
}

const FILTERS: readonly IntentListRequest[] = [undefined, 'created', 'cancelled', 'failed'].flatMap(
  (status) =>
    [undefined, 'th_promptpay', 'vn_vietqr'].map((corridor) => ({
      ...(status === undefined ? {} : { status }),
      ...(corridor === undefined ? {} : { corridor }),
    })),
)

const matches = (made: Made, { status, corridor, ...bounds }: IntentListRequest): boolean =>
  (status === undefined || made.status === status) &&
  (corridor === undefined || made.corridor === corridor) &&
  (bounds.created_after === undefined || made.at > Number(bounds.created_after)) &&
  (bounds.created_before === undefined || made.at < Number(bounds.created_before))

const idsOf = (list: readonly Listed[]): string[] => list.map(({ intent_id }) => intent_id)

t.test('every filter, page by page, however few intents a page searches', async (t) => {
  const world = await createWorld(t)
  const made = await makeAll(world)
  const bounds = { created_after: String(made.at(-3)!.at), created_before: String(made[2]!.at) }
  for (const filter of FILTERS.flatMap((each) => [each, { ...each, ...bounds }])) {
    const expected = idsOf(made.filter((each) => matches(each, filter)))
    for (const scannedMax of [1, 5, 2_000]) {
      const listed = await readAll<Listed>(world, (page) =>
        listIntents(DEMO, { ...filter, limit: 2, ...page }, scannedMax),
      )
      t.same(idsOf(listed), expected, `${JSON.stringify(filter)} ${scannedMax}`)
    }
  }
  const none = await read(world, listIntents(DEMO, { status: 'failed' }, made.length))
  t.match(viewOf(none), { data: [], next_cursor: null }, 'no intent is left to search')
})

t.test('the filters apply to the intents of one user', async (t) => {
  const world = await createWorld(t)
  const made = await makeAll(world)
  const { last } = viewOf<FoundIntents>(await world.run(findUserIntents(DEMO, 'user b')))
  for (const filter of [...FILTERS, { created_after: String(made[5]!.at) }]) {
    const listed = await readAll<Listed>(world, (page) =>
      listUserIntents(DEMO, 'user b', { ...filter, limit: 2, ...page }, last),
    )
    const expected = made.filter((each) => each.user === 'user b' && matches(each, filter))
    t.same(idsOf(listed), idsOf(expected), JSON.stringify(filter))
  }
})

t.test('a page of one user searches many intents, and created_after ends it', async (t) => {
  const world = await createWorld(t)
  const mine = { ...anIntent(), partner_user_id: 'user z' }
  const ids: string[] = []
  const make = async (count: number, over: object = {}): Promise<void> => {
    for (let i = 0; i < count; i++) {
      world.clock.pass(1_000)
      const request = { ...mine, ...over }
      ids.push(viewOf<Listed>(await world.run(createIntent(DEMO, request))).intent_id)
    }
  }
  await make(1, { corridor: 'vn_vietqr' })
  await make(300)
  const middle = String(world.clock.now())
  await make(300)
  const { last } = viewOf<FoundIntents>(await world.run(findUserIntents(DEMO, 'user z')))
  const page = async (request: IntentListRequest, scannedMax?: number) =>
    viewOf<PageView<Listed>>(
      await read(world, listUserIntents(DEMO, 'user z', request, last, scannedMax)),
    )
  const other = await page({ corridor: 'vn_vietqr', limit: 1 })
  t.same(idsOf(other.data), [ids[0]], 'one page finds it behind 600 others')
  t.equal(other.next_cursor, null)

  const bounded = await page({ corridor: 'vn_vietqr', limit: 1 }, 400)
  t.same(bounded.data, [], 'a search is bounded')
  const rest = await page({ corridor: 'vn_vietqr', limit: 1, cursor: bounded.next_cursor! }, 400)
  t.same(idsOf(rest.data), [ids[0]])
  t.equal(rest.next_cursor, null)

  const since = await page({ corridor: 'vn_vietqr', created_after: middle }, 400)
  t.same(since, { data: [], next_cursor: null }, 'created_after ends the walk')
  const newer = await page({ created_after: middle, limit: 100 })
  const newest = await page({ created_after: middle, limit: 100, cursor: newer.next_cursor! })
  const oldest = await page({ created_after: middle, limit: 100, cursor: newest.next_cursor! })
  t.same(idsOf([...newer.data, ...newest.data, ...oldest.data]), ids.slice(-300).reverse())
  t.equal(oldest.next_cursor, null)
})

t.test("another tenant's intents are not listed, nor is its cursor accepted", async (t) => {
  const world = await createWorld(t)
  await makeAll(world)
  const first = viewOf<PageView<Listed>>(await read(world, listIntents(DEMO, { limit: 5 })))
  const cursor = first.next_cursor!
  t.same(viewOf(await read(world, listIntents(PRODUCTION, {}))), { data: [], next_cursor: null })
  t.equal(codeOf(await read(world, listIntents(PRODUCTION, { cursor }))), 'invalid_request')
  const filtered = listIntents(DEMO, { cursor, status: 'created' })
  t.equal(codeOf(await read(world, filtered)), 'invalid_request', 'with other filters')
})

t.test('a corrupt intent is omitted, with and without a filter of its context', async (t) => {
  const world = await createWorld(t)
  const [newest, ...others] = await makeAll(world)
  await inBooks(world.folder, (books) =>
    changeContexts(books, 'intents', () => '{', newest!.intent_id),
  )
  const listed = viewOf<PageView<Listed>>(await read(world, listIntents(DEMO, {})))
  t.same(idsOf(listed.data), idsOf(others))
  const { corridor } = newest!
  const some = viewOf<PageView<Listed>>(await read(world, listIntents(DEMO, { corridor })))
  t.same(idsOf(some.data), idsOf(others.filter((each) => each.corridor === corridor)))
})

t.test('invalid pages are rejected', async (t) => {
  const world = await createWorld(t)
  for (const request of [{ limit: 0 }, { limit: 101 }, { cursor: 'x' }]) {
    const answer = await read(world, listIntents(DEMO, request))
    t.equal(codeOf(answer), 'invalid_request', JSON.stringify(request))
    const ofUser = await read(world, listUserIntents(DEMO, 'u', request, 0))
    t.equal(codeOf(ofUser), 'invalid_request', JSON.stringify(request))
  }
})

const page = async (world: World, query: Query): Promise<PageView<Listed>> =>
  viewOf(await read(world, query))

const create = (user: string) => createIntent(DEMO, anIntent({ partner_user_id: user }))

async function queryOf(
  world: World,
  user: string,
  tenant: TenantId = DEMO,
): Promise<(page: PageRequest) => Query> {
  const { last } = viewOf<FoundIntents>(await world.run(findUserIntents(tenant, user)))
  return (page) => listUserIntents(tenant, user, page, last)
}

async function idsOfUser(world: World, user: string, limit = 2, tenant = DEMO): Promise<string[]> {
  const query = await queryOf(world, user, tenant)
  return idsOf(await readAll<Listed>(world, (page) => query({ limit, ...page })))
}

/** The users that create in each commit, and whether the processor restarts before it. */
const commits = fc.array(
  fc.record({
    users: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 8 }),
    restarts: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)

t.test("a user's list is complete for any order of creates, commits and restarts", async (t) => {
  const world = await createWorld(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(commits, fc.integer({ min: 1, max: 4 }), async (plan, limit) => {
      runs += 1
      const nameOf = (user: number): string => `${user} of ${runs}`
      const expected = new Map<string, string[]>()
      for (const { users, restarts } of plan) {
        if (restarts) await world.rebuild()
        const answers = await world.runAll(users.map((user) => create(nameOf(user))))
        for (const [i, user] of users.entries()) {
          const { intent_id } = viewOf<Listed>(answers[i]!)
          expected.set(nameOf(user), [intent_id, ...(expected.get(nameOf(user)) ?? [])])
        }
      }
      for (const [user, ids] of expected) {
        t.same(await idsOfUser(world, user, limit), ids)
      }
    }),
    { numRuns: 15 },
  )
})

t.test('a user without intents, and users of other tenants, have separate lists', async (t) => {
  const world = await createWorld(t)
  const acme = await openTenant(world, 'acme', {})
  const lifecycle = await beginLifecycle(world, { user: 'ann' })
  const theirs = await beginLifecycle(world, { user: 'ann', tenant: acme })
  t.same(await idsOfUser(world, 'ann'), [lifecycle.id], 'the same user id at another partner')
  t.same(await idsOfUser(world, 'ann', 2, acme), [theirs.id])
  t.same(await idsOfUser(world, 'an'), [])
  t.same(await idsOfUser(world, 'Ann'), [])
})

t.test('intents are listed in their current state, as GET shows them', async (t) => {
  const world = await createWorld(t)
  const lifecycle = await intentAt(world, cancelled)
  const query = await queryOf(world, lifecycle.user)
  const { data } = await page(world, query({}))
  t.same(data, [await lifecycle.see()])
  t.equal(data[0]?.status, 'cancelled')
})

t.test('users with equal fingerprints have separate lists', async (t) => {
  const world = await createWorld(t)
  const memory = world.memory() as { -readonly [Member in keyof Memory]: Memory[Member] }
  memory.fingerprintOfUser = () => ({ high: 1, low: 1 })
  const ids: Record<string, string[]> = { ann: [], bob: [] }
  for (const user of ['ann', 'bob', 'bob', 'ann', 'bob']) {
    ids[user]!.unshift((await beginLifecycle(world, { user })).id)
  }
  t.same(await idsOfUser(world, 'ann'), ids['ann'])
  t.same(await idsOfUser(world, 'bob', 1), ids['bob'])
})

t.test(
  'a page is read by primary key lookups only',
  { skip: sqliteOnly('its query plans') },
  async (t) => {
    const details = await planIn(await createWorld(t), userIntentsStatement(9, 51))
    const others = details.filter((detail) => /SCAN (?!c$|CONSTANT)|B-TREE/.test(detail))
    t.same(others, [])
    t.equal(details.filter((detail) => detail.startsWith('SEARCH')).length, 3)
  },
)

t.test('the cursor of a search that ended early names the intent where it ended', async (t) => {
  const world = await createWorld(t)
  await world.runAll(['ann', 'bob', 'ann', 'ann', 'bob', 'ann'].map(create))
  const ids = await idsOfUser(world, 'ann')
  const { last } = viewOf<FoundIntents>(await world.run(findUserIntents(DEMO, 'ann')))
  const search = (request: PageRequest = {}) =>
    page(world, listUserIntents(DEMO, 'ann', { status: 'captured', ...request }, last, 2))
  const { data, next_cursor: cursor } = await search()
  t.same(data, [])
  const [position = ''] = cursor!.split('.')
  t.equal(Buffer.from(position, 'base64url').toString(), `4 ${ids[1]}`)
  const end = await search({ cursor: cursor! })
  t.same([end.data, end.next_cursor], [[], null], 'two more links are all')
})

t.test('a cursor goes on in books where links have other numbers', async (t) => {
  const world = await createWorld(t)
  const users = ['ann', 'bob', 'ann', 'ann', 'bob', 'ann', 'ann']
  await world.runAll(users.map(create))
  const ids = await idsOfUser(world, 'ann')
  const query = await queryOf(world, 'ann')
  const cursors = createCursors([MASTER])
  const after = (number: number, id: string) => {
    const cursor = cursors.make('user_intents ["demo_sandbox","ann"]', `${number} ${id}`)
    return query({ cursor })
  }
  for (const number of [1, 2, 4, users.length, 99]) {
    for (const [index, id] of ids.entries()) {
      const { data } = await page(world, after(number, id))
      t.same(idsOf(data), ids.slice(index + 1), `link ${number}, intent ${index}`)
    }
    t.equal(codeOf(await read(world, after(number, 'pi_unknown'))), 'invalid_request')
  }
})

t.test('intents that have left the books are passed over, also that of a cursor', async (t) => {
  const world = await createWorld(t)
  await world.runAll(Array.from({ length: 6 }, () => create('ann')))
  const ids = await idsOfUser(world, 'ann')
  const query = await queryOf(world, 'ann')
  const first = await page(world, query({ limit: 2 }))
  await inBooks(world.folder, async (books) => {
    for (const id of [ids[1]!, ids[2]!, ids[4]!])
      await books.run('DELETE FROM intents WHERE id = ?', [id])
  })

  const next = await page(world, query({ limit: 2, cursor: first.next_cursor! }))
  t.same(idsOf(next.data), [ids[3], ids[5]])
  for (const limit of [1, 2, 5]) {
    t.same(await idsOfUser(world, 'ann', limit), [ids[0], ids[3], ids[5]], `${limit} a page`)
  }
  t.equal(world.memory().corruptRows.count, 0, 'none counts as corrupt')
})

t.test('pages are stable, and invalid limits and cursors are rejected', async (t) => {
  const world = await createWorld(t)
  const answers = await world.runAll(Array.from({ length: 101 }, () => create('ann')))
  const newest = answers.map((one) => viewOf<Listed>(one).intent_id).reverse()
  const query = await queryOf(world, 'ann')
  const asked = (request: PageRequest) => page(world, query(request))

  const first = await asked({})
  t.equal(first.data.length, 50)
  const all = await asked({ limit: 100 })
  t.same(idsOf(all.data), newest.slice(0, 100))
  const last = await asked({ limit: 100, cursor: all.next_cursor! })
  t.same([last.data[0]?.intent_id, last.next_cursor], [newest[100], null])

  await world.run(create('ann'))
  const cursor = first.next_cursor!
  t.equal((await asked({ cursor })).data[0]?.intent_id, newest[50], 'new intents shift nothing')

  const other = await queryOf(world, 'bob')
  for (const request of [{ limit: 0 }, { limit: 101 }, { cursor: `${cursor}x` }, { cursor: '' }]) {
    t.equal(codeOf(await read(world, query(request))), 'invalid_request', JSON.stringify(request))
  }
  t.equal(codeOf(await read(world, other({ cursor }))), 'invalid_request', 'of another user')
})
