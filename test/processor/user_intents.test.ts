/**
 * A user's intents, newest first, while other users create intents, across commits and restarts.
 */
import t from 'tap'
import fc from 'fast-check'
import type { TenantId } from '../../src/base/ids.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import {
  findUserIntents,
  type FoundIntents,
} from '../../src/processor/commands/intents/user_intents_find.js'
import { createCursors } from '../../src/processor/keys/cursors.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import type { PageRequest } from '../../src/processor/queries/page.js'
import { listUserIntents } from '../../src/processor/queries/user_intent_list.js'
import type { Query } from '../../src/processor/queries/query.js'
import { userIntentsStatement } from '../../src/store/user_intent_rows.js'
import { anIntent } from '../support/requests.js'
import { inBooks, sqliteOnly } from '../support/books.js'
import { codeOf, createWorld, DEMO, MASTER, viewOf, type World } from '../support/world.js'
import { beginLifecycle, cancelled, openTenant, intentAt } from './intent_lifecycle.js'
import { read, readAll, type PageView, planIn } from './scenarios.js'

interface Listed {
  readonly intent_id: string
  readonly status: string
}

const page = async (world: World, query: Query): Promise<PageView<Listed>> =>
  viewOf(await read(world, query))

const intentIds = (listed: readonly Listed[]): string[] => listed.map(({ intent_id }) => intent_id)

const create = (user: string) => createIntent(DEMO, anIntent({ partner_user_id: user }))

async function queryOf(
  world: World,
  user: string,
  tenant: TenantId = DEMO,
): Promise<(page: PageRequest) => Query> {
  const { last } = viewOf<FoundIntents>(await world.run(findUserIntents(tenant, user)))
  return (page) => listUserIntents(tenant, user, page, last)
}

async function idsOf(world: World, user: string, limit = 2, tenant = DEMO): Promise<string[]> {
  const query = await queryOf(world, user, tenant)
  return intentIds(await readAll<Listed>(world, (page) => query({ limit, ...page })))
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
        t.same(await idsOf(world, user, limit), ids)
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
  t.same(await idsOf(world, 'ann'), [lifecycle.id], 'the same user id at another partner')
  t.same(await idsOf(world, 'ann', 2, acme), [theirs.id])
  t.same(await idsOf(world, 'an'), [])
  t.same(await idsOf(world, 'Ann'), [])
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
  t.same(await idsOf(world, 'ann'), ids['ann'])
  t.same(await idsOf(world, 'bob', 1), ids['bob'])
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
  const ids = await idsOf(world, 'ann')
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
  const ids = await idsOf(world, 'ann')
  const query = await queryOf(world, 'ann')
  const cursors = createCursors([MASTER])
  const after = (number: number, id: string) => {
    const cursor = cursors.make('user_intents ["demo_sandbox","ann"]', `${number} ${id}`)
    return query({ cursor })
  }
  for (const number of [1, 2, 4, users.length, 99]) {
    for (const [index, id] of ids.entries()) {
      const { data } = await page(world, after(number, id))
      t.same(intentIds(data), ids.slice(index + 1), `link ${number}, intent ${index}`)
    }
    t.equal(codeOf(await read(world, after(number, 'pi_unknown'))), 'invalid_request')
  }
})

t.test('intents that have left the books are passed over, also that of a cursor', async (t) => {
  const world = await createWorld(t)
  await world.runAll(Array.from({ length: 6 }, () => create('ann')))
  const ids = await idsOf(world, 'ann')
  const query = await queryOf(world, 'ann')
  const first = await page(world, query({ limit: 2 }))
  await inBooks(world.folder, async (books) => {
    for (const id of [ids[1]!, ids[2]!, ids[4]!])
      await books.run('DELETE FROM intents WHERE id = ?', [id])
  })

  const next = await page(world, query({ limit: 2, cursor: first.next_cursor! }))
  t.same(intentIds(next.data), [ids[3], ids[5]])
  for (const limit of [1, 2, 5]) {
    t.same(await idsOf(world, 'ann', limit), [ids[0], ids[3], ids[5]], `${limit} a page`)
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
  t.same(intentIds(all.data), newest.slice(0, 100))
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
