/** The intent list: filters, pages, bounded searches, one user's intents, invalid requests. */
import t from 'tap'
import type { Corridor } from '../../src/qr/corridor.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import {
  findUserIntents,
  type FoundIntents,
} from '../../src/processor/commands/intents/user_intents_find.js'
import { listIntents, type IntentListRequest } from '../../src/processor/queries/intent_list.js'
import { listUserIntents } from '../../src/processor/queries/user_intent_list.js'
import { changeContexts, inBooks } from '../support/books.js'
import { anIntent } from '../support/requests.js'
import { codeOf, createWorld, DEMO, PRODUCTION, viewOf, type World } from '../support/world.js'
import { read, readAll, type PageView } from './scenarios.js'

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
