/** The part of the store's contract about what is kept for a time: nonces, keys, events. */
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import type { Traceparent } from '../../src/base/traceparent.js'
import { collected } from '../support/collected.js'
import { anEvent, batchOf } from './commit_rows.js'
import { LEAST, MOST, ROWS } from './contract_rows.js'
import { rowsIn, type OpenContractBooks } from './rows_in_books.js'

export function testNonces(open: OpenContractBooks): void {
  t.test('expired nonces are deleted, oldest first, a limited number a commit', async (t) => {
    const { store, raw } = await open(t)
    const kept = async (): Promise<number[]> =>
      (await collected((await store.boot(instant(0))).nonces)).map((row) => row.seen_at)
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
    const earlier = async (times: readonly number[]): Promise<void> => {
      const values = times.map(() => '(?, ?)').join(', ')
      const rows = times.flatMap((seenAt) => [seenAt, Buffer.alloc(8)])
      await raw.run(`INSERT INTO nonces (seen_at, fingerprints) VALUES ${values}`, rows)
    }
    for (const seenAt of [1, 2, 3]) await commit(seenAt)
    await commit(4, 3)
    t.same(await kept(), [3, 4])

    await earlier(Array.from({ length: 396 }, (_, i) => 5 + i))
    await commit(401, 400)
    const left = await kept()
    t.ok(left.length > 1 && left.length < 399, 'a commit deletes a limited number')
    t.same(
      left,
      [...left].sort((a, b) => a - b),
    )
    t.equal(left.at(-1), 401)

    await earlier(Array<number>(300).fill(1_000))
    await commit(2, 500)
    await commit(1_001, 500)
    t.ok((await kept()).includes(2), 'a commit checks the oldest rows only')

    await commit(600, 500, 999)
    await commit(601, 500, 999)
    t.same(await kept(), [600, 601], 'rows with a future time are deleted')
  })

  t.test('all stored nonces are loaded at startup, in order', async (t) => {
    const { store, raw } = await open(t)
    t.same(await collected((await store.boot(instant(0))).nonces), [])
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
    t.same(await collected((await store.boot(instant(0))).nonces), nonces)
  })
}

export function testRetention(open: OpenContractBooks): void {
  testQuotes(open)
  t.test('expired rows are deleted, and no other', async (t) => {
    const { store, raw } = await open(t)
    const key = (sequence: number) => ({ ...ROWS.idempotency[1], sequence, key: `k${sequence}` })
    const indexed = [LEAST, -1n, MOST].map((fingerprint) => ({ fingerprint, sequence: 2 }))
    const requests = ['req_1', 'req_2'].map((request_id) => ({
      ...ROWS.requestActions[1],
      request_id,
    }))
    await store.commit({
      ...batchOf({
        events: [1, 2, 3].map((position) => anEvent(position)),
        idempotency: [key(1), key(2), key(3)],
        keyIndex: [...indexed, { fingerprint: LEAST, sequence: 3 }],
        requestActions: [...requests, { ...requests[0]!, action: 'again' }],
        usage: ['gone', 'kept'].map((key) => ({ key, used: 5n })),
        intents: ['pi_gone', 'pi_kept'].map((id) => ({ ...ROWS.intents[1], id })),
        payouts: ['pout_gone', 'pout_kept'].map((id) => ({ ...ROWS.payouts[1], id })),
      }),
      userFingerprints: Buffer.alloc(16, 1),
      userLinks: '[["pi_1",0],["pi_2",0]]',
      userFirst: 5,
    })
    await store.commit({ ...batchOf({}), settledEvents: [anEvent(1).id, anEvent(2).id] })
    await store.commit({
      ...batchOf({}),
      expired: {
        events: [1, 7],
        keys: [
          { sequence: 1, key: 'key-1', fingerprint: 5n },
          { sequence: 2, key: 'key-2', fingerprint: LEAST },
        ],
        requests: ['req_1'],
        usage: ['gone'],
        payments: ['pi_gone', 'pout_gone'],
        userFingerprints: [{ first: 5, prints: Buffer.alloc(16, 7) }],
      },
    })
    t.same(
      (await rowsIn(raw, 'events')).map(({ position }) => position),
      [2, 3],
    )
    t.same(
      (await rowsIn(raw, 'idempotency')).map(({ sequence }) => sequence),
      [3],
    )
    t.same(
      new Set(await rowsIn(raw, 'keyIndex')),
      new Set([
        { fingerprint: LEAST, sequence: 3 },
        { fingerprint: -1n, sequence: 2 },
        { fingerprint: MOST, sequence: 2 },
      ]),
    )
    t.same(
      (await rowsIn(raw, 'requestActions')).map(({ request_id: id }) => id),
      ['req_2'],
    )
    t.same(await rowsIn(raw, 'usage'), [{ key: 'kept', used: 5n }])
    t.same(
      [...(await rowsIn(raw, 'intents')), ...(await rowsIn(raw, 'payouts'))].map(({ id }) => id),
      ['pi_kept', 'pout_kept'],
    )
    const prints = await store.lists.userFingerprints(6)
    t.match(prints, { first: 5, prints: Buffer.alloc(16, 7) })
    t.same((await store.openEvents(0, 9)).length, 1)
  })
}

function testQuotes(open: OpenContractBooks): void {
  t.test('expired quotes are deleted, but none that bought something', async (t) => {
    const { store, raw } = await open(t)
    const quote = (id: string, expires_at: number, conversion: string | null = null) => ({
      ...{ ...ROWS.fxQuotes[1], id, expires_at, conversion },
    })
    const kept = async (): Promise<readonly string[]> =>
      (await rowsIn(raw, 'fxQuotes')).map(({ id }) => id).sort()
    await store.commit(
      batchOf({ fxQuotes: [quote('gone', 9), quote('used', 9, 'fxc_1'), quote('valid', 10)] }),
    )
    await store.commit({ ...batchOf({}), forgetBefore: instant(9) })
    t.same(await kept(), ['gone', 'used', 'valid'], 'none has expired')
    await store.commit({ ...batchOf({}), forgetBefore: instant(10) })
    t.same(await kept(), ['used', 'valid'])

    const many = Array.from({ length: 1_500 }, (_, number) => quote(`q_${number}`, 9))
    await store.commit(batchOf({ fxQuotes: many }))
    await store.commit({ ...batchOf({}), forgetBefore: instant(10) })
    t.equal((await kept()).length, 502, 'a commit deletes a limited number')
    await store.commit({ ...batchOf({}), forgetBefore: instant(10) })
    t.same(await kept(), ['used', 'valid'])
  })
}

export function testEvents(open: OpenContractBooks): void {
  t.test('the last sequence of each tenant is loaded at startup', async (t) => {
    const { store } = await open(t)
    t.same((await store.boot(instant(0))).sequences, [])
    const [first, second, third] = ['a_sandbox', 'b_production', 'b_sandbox']
    const last = (tenant: string | undefined, sequence: number, position: number) => ({
      tenant: tenant ?? '',
      sequence,
      position,
    })
    const events = [last(third, 1, 1), last(first, 1, 2), last(first, 2, 3), last(second, 1, 4)]
    events.push(last(first, 3, 5))
    await store.commit(
      batchOf({ events: events.map((row) => ({ ...anEvent(row.position), ...row })) }),
    )
    t.same((await store.boot(instant(0))).sequences, [
      last(first, 3, 5),
      last(second, 1, 4),
      last(third, 1, 1),
    ])
  })

  t.test('the schema allows one event per transition', async (t) => {
    const { store } = await open(t)
    await store.commit(batchOf({ events: [anEvent(1)] }))
    const again = { ...anEvent(2), entity: anEvent(1).entity }
    await t.rejects(store.commit(batchOf({ events: [again] })), /unique/i)
    t.equal((await store.openEvents(0, 10)).length, 1)
  })

  t.test('open events are listed in order until they are settled, once', async (t) => {
    const { store } = await open(t)
    const settle = (settledEvents: readonly string[], settledAt: number): Promise<void> =>
      store.commit({ ...batchOf({}), settledEvents, settledAt: instant(settledAt) })
    const openOnes = async (after: number, limit: number): Promise<readonly number[]> =>
      (await store.openEvents(after, limit)).map(({ position }) => position)
    await store.commit({
      ...batchOf({ events: [3, 1, 10, 2].map(anEvent) }),
      settledEvents: ['evt_2'],
    })
    t.same(await openOnes(0, 99), [1, 3, 10], 'one was settled by the batch that wrote it')
    t.same(await openOnes(1, 99), [3, 10], 'after a position')
    t.same(await openOnes(0, 2), [1, 3], 'the first events')
    const { position, id, tenant, type, sequence, body } = anEvent(3)
    const common = { position, id, tenant, type, sequence, body }
    t.strictSame(await store.openEvents(1, 1), [
      { ...common, createdAt: 7, requestId: 'req_3', traceparent: 'trace_3' as Traceparent },
    ])

    await settle(['evt_3', 'evt_unknown'], 20)
    await settle(['evt_3'], 21)
    t.same(await openOnes(0, 99), [1, 10])
    const settled = await store.lists.event(tenant as TenantId, 'evt_3')
    t.equal(settled?.settledAt, 20)
    await settle(['evt_10', 'evt_1'], 22)
    t.same(await openOnes(0, 99), [])
  })
}
