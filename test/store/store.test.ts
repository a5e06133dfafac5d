/** The contract of the store: atomic, numbered commits, exact for int64, guarded by the schema. */
import { join } from 'node:path'
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { FILES } from '../../src/base/subjects.js'
import type { Row } from '../../src/store/tables.js'
import { openNewBooks, openTestStore } from '../support/books.js'
import { anIntent, batchOf, NOTHING_WANTED } from './commit_rows.js'

void t.test('rows are read as they were written', async (t) => {
  const { store } = await openNewBooks(t)
  await store.commit(batchOf({ intents: [anIntent('pi_1'), anIntent('pi_2')] }))
  const found = await store.load({
    ...NOTHING_WANTED,
    intents: ['pi_2', 'pi_9'],
  })
  t.equal(found.intents.length, 1)
  t.same(JSON.parse(found.intents[0]!.context), anIntent('pi_2').context)
  t.same(await store.due('intents', instant(5), 10), ['pi_1', 'pi_2'])
  t.same(await store.due('intents', instant(4), 10), [])
})

void t.test('a later row of the same key replaces the earlier one', async (t) => {
  const { store } = await openNewBooks(t)
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  await store.commit(batchOf({ intents: [{ ...anIntent('pi_1', 'cancelled'), due_at: null }] }))
  t.same(await store.due('intents', instant(99), 10), [])
})

void t.test('int64 values are exact', async (t) => {
  const { store } = await openNewBooks(t)
  const most = 9_223_372_036_854_775_807n
  await store.commit(batchOf({ accounts: [{ id: 'demo_sandbox:VND:prefund', balance: most }] }))
  await store.commit(batchOf({ usage: [{ key: 'k', used: most }] }))
  const { accounts } = await store.boot(instant(0))
  t.same(accounts, [{ id: 'demo_sandbox:VND:prefund', balance: String(most) }])
})

void t.test('expired nonces are deleted, oldest first, a limited number per commit', async (t) => {
  const { store } = await openNewBooks(t)
  const kept = async (): Promise<number[]> =>
    (await store.boot(instant(0))).nonces.map(({ seen_at: seenAt }) => seenAt)
  const commit = (
    seenAt: number,
    forgetBefore: number | null = null,
    forgetAfter = Infinity,
  ): Promise<void> =>
    store.commit({
      ...batchOf({}),
      nonces: Buffer.alloc(8, seenAt),
      noncesSeenAt: instant(seenAt),
      forgetBefore: forgetBefore === null ? null : instant(forgetBefore),
      forgetAfter,
    })
  for (const seenAt of [1, 2, 3]) await commit(seenAt)
  await commit(4, 3)
  t.same(await kept(), [3, 4])

  for (let seenAt = 5; seenAt <= 400; seenAt += 1) await commit(seenAt)
  await commit(401, 400)
  const left = await kept()
  t.ok(left.length > 1 && left.length < 399, 'a commit deletes a limited number')
  t.same(
    left,
    [...left].sort((a, b) => a - b),
  )
  t.equal(left.at(-1), 401)

  for (let i = 0; i < 300; i += 1) await commit(1_000)
  await commit(2, 500)
  await commit(1_001, 500)
  t.ok((await kept()).includes(2), 'a commit checks the oldest rows only')

  await commit(600, 500, 999)
  await commit(601, 500, 999)
  t.same(await kept(), [600, 601], 'rows with a future time are deleted')
})

void t.test('all stored nonces are loaded at startup, in order', async (t) => {
  const { store, raw } = await openNewBooks(t)
  t.same((await store.boot(instant(0))).nonces, [])
  const FIRST = 700
  const nonces = Array.from({ length: 2_500 }, (_, i) => ({
    seen_at: i % 1_000,
    fingerprints: Buffer.from(String(i).padStart(8, '0')),
  }))
  await raw.run(
    `INSERT INTO nonces (id, seen_at, fingerprints)
     VALUES ${nonces.map(() => '(?, ?, ?)').join(', ')}`,
    nonces.flatMap(({ seen_at: seenAt, fingerprints }, i) => [FIRST + i, seenAt, fingerprints]),
  )
  t.same((await store.boot(instant(0))).nonces, nonces)
})

void t.test('the last sequence of each tenant is loaded at startup', async (t) => {
  const { store } = await openNewBooks(t)
  t.same((await store.boot(instant(0))).sequences, [])
  const event = (tenant: TenantId, sequence: number, position: number): Row<'events'> => ({
    ...{ position, tenant, sequence },
    id: `evt_${position}`,
    type: 'payout.failed',
    entity: `pout_${position}`,
    created_at: 1,
    body: '{}',
    request_id: null,
    cause: 'rail',
  })
  const [first, second, third] = ['a_sandbox', 'b_production', 'b_sandbox'] as TenantId[]
  await store.commit(
    batchOf({
      events: [
        event(third!, 1, 1),
        event(first!, 1, 2),
        event(first!, 2, 3),
        event(second!, 1, 4),
        event(first!, 3, 5),
      ],
    }),
  )
  t.same((await store.boot(instant(0))).sequences, [
    { tenant: first, sequence: 3, position: 5 },
    { tenant: second, sequence: 1, position: 4 },
    { tenant: third, sequence: 1, position: 1 },
  ])
})

void t.test('a batch is atomic', async (t) => {
  const { store } = await openNewBooks(t)
  const overdrawn = { id: 'demo_sandbox:VND:prefund', balance: -1n }
  await t.rejects(
    store.commit(batchOf({ intents: [anIntent('pi_1')], accounts: [overdrawn] })),
    /check/i,
    'the schema rejects it',
  )
  t.same(await store.due('intents', instant(99), 10), [], 'nothing of the batch is stored')
  await t.rejects(store.commit(batchOf({ intents: [anIntent('pi_1', 'paid')] })), /check/i)
})

void t.test('commits are numbered, and one out of order is rejected', async (t) => {
  const { store, raw } = await openNewBooks(t)
  const { booksId } = store.marks.progress()
  t.match(store.marks.progress(), { booksId, epoch: 1, lastBatch: 0 })
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  await t.rejects(store.commit(batchOf({ intents: [anIntent('pi_2', 'paid')] })), /check/i)
  await store.commit(batchOf({ intents: [anIntent('pi_2')] }))
  t.match(
    await store.boot(instant(0)),
    { epoch: 1, lastBatch: 2 },
    'a rejected commit has no number',
  )
  await store.raiseEpoch(4)
  await store.commit(batchOf({ intents: [anIntent('pi_3')] }))
  t.match(store.marks.progress(), { booksId, epoch: 5, lastBatch: 3 })
  t.same(await raw.all('SELECT epoch, last_batch FROM owner'), [{ epoch: 5, last_batch: 3 }])

  for (const change of ['epoch = epoch + 1', 'last_batch = last_batch + 1']) {
    const other = await openNewBooks(t)
    await other.raw.run(`UPDATE owner SET ${change}`)
    await t.rejects(
      other.store.commit(batchOf({ intents: [anIntent('pi_1')] })),
      /these books are at another batch or epoch|another process owns the books/,
      change,
    )
    t.same(await other.raw.all('SELECT id FROM intents'), [], 'nothing of it is stored')
  }
})

void t.test('the schema allows one event per transition', async (t) => {
  const { store } = await openNewBooks(t)
  const event = (position: number, id: string): Row<'events'> => ({
    position,
    id,
    tenant: 'demo_sandbox',
    sequence: position,
    type: 'payout.failed',
    entity: 'pout_1',
    created_at: 1,
    body: '{}',
    request_id: null,
    cause: 'rail',
  })
  await store.commit(batchOf({ events: [event(1, 'evt_1')] }))
  await t.rejects(store.commit(batchOf({ events: [event(2, 'evt_2')] })), /unique/i)
  t.equal((await store.openEvents(0, 10)).length, 1)
  for (const settledAt of [instant(9), instant(10)]) {
    await store.commit({ ...batchOf({}), settledEvents: ['evt_1'], settledAt })
  }
  t.same(await store.openEvents(0, 10), [])
  const settled = await store.lists.event('demo_sandbox' as TenantId, 'evt_1')
  t.equal(settled?.settledAt, 9, 'once')
})

void t.test('commits are read after the books are opened again', async (t) => {
  const { store, folder } = await openNewBooks(t)
  const salt = (await store.boot(instant(0))).nonceSalt
  await store.commit({ ...batchOf({ intents: [anIntent('pi_1')] }), nonces: Buffer.alloc(16, 1) })
  await store.close()
  const second = await openTestStore(join(folder, FILES.processorDatabase))
  const boot = await second.boot(instant(0))
  t.same(boot.nonces, [{ seen_at: 9, fingerprints: Buffer.alloc(16, 1) }])
  t.same(boot.nonceSalt, salt, 'stored fingerprints depend on it')
  t.equal(salt.length, 32)
  await second.close()
})

void t.test('books of a newer version are rejected', async (t) => {
  const { store, raw, folder } = await openNewBooks(t)
  await store.close()
  await raw.exec(
    raw.dialect.name === 'sqlite'
      ? 'PRAGMA user_version = 99'
      : 'UPDATE owner SET schema_version = 99',
  )
  const open = (): Promise<unknown> => openTestStore(join(folder, FILES.processorDatabase))
  await t.rejects(open(), /newer version/)
  await t.rejects(open(), /newer version/, 'the rejection does not lock them')
})
