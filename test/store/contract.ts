/**
 * The contract of the store, which SQLite, PostgreSQL and the simulated store keep: atomic,
 * numbered commits, exact for every column of every table, guarded by the schema.
 *
 * Does not own: what only one store does (store.test, postgres.test, simulation).
 */
import t, { type Test } from 'tap'
import { instant } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import type { Traceparent } from '../../src/base/traceparent.js'
import type { Database, Reader } from '../../src/store/database.js'
import type { CommitRows, Store } from '../../src/store/store.js'
import {
  BUSY_TABLES,
  columnsOf,
  fromStored,
  TABLE_NAMES,
  TABLES,
  type Row,
  type StoredRow,
  type Table,
  type TableName,
} from '../../src/store/tables.js'
import { collected } from '../support/collected.js'
import { anEvent, anIntent, batchOf, NOTHING_FOUND, NOTHING_WANTED } from './commit_rows.js'
import { LEAST, MOST, ROWS, SPECIAL } from './contract_rows.js'
import { dueIds } from '../support/due_ids.js'

export interface ContractBooks {
  readonly store: Store
  /** A second connection to their rows. */
  readonly raw: Database
  /** Closes the store and opens the same books again. */
  reopen(): Promise<Store>
}

/** Opens new books, which are closed at the end of the test. */
export type OpenContractBooks = (t: Test) => Promise<ContractBooks>

type AnyRow = Readonly<Record<string, unknown>>

export function testContract(open: OpenContractBooks): void {
  testRows(open)
  testBatches(open)
  testNonces(open)
  testRetention(open)
  testEvents(open)
}

/** A deposit, its correction, and what is no part of either. */
const DEPOSIT_ENTRIES = (
  [
    [61, 'deposit', 'f', null, -MOST],
    [61, 'deposit', 'a', 't', MOST],
    [62, 'deposit_corrected', 'a', 't', -7n],
    [62, 'deposit_corrected', 'f', null, 7n],
    [63, 'withdrawal', 'a', 't', -1n],
  ] as const
).map(([posting, plan, account, tenant, amount], at) => ({
  ...{ posting, line: at + 1, account, tenant, amount, plan, at },
  ...{ balance: 0n, entity: 'dep_1' },
}))

function testRows(open: OpenContractBooks): void {
  void t.test('each table returns all columns of its rows as they were written', async (t) => {
    const { store, raw } = await open(t)
    await store.commit(batchOf(ROWS))
    for (const name of TABLE_NAMES) t.strictSame(await rowsIn(raw, name), ROWS[name], name)
    t.equal(await store.stoppedByRecovery(), 'submissions', 'one recovery is not released')
  })

  void t.test('so does a commit of payments only', async (t) => {
    const { store, raw } = await open(t)
    const ofPayments = BUSY_TABLES.map((name) => [name, ROWS[name]] as const)
    await store.commit(batchOf(Object.fromEntries(ofPayments)))
    for (const [name, rows] of ofPayments) t.strictSame(await rowsIn(raw, name), rows, name)
  })

  void t.test('the rows for the start are those that were written', async (t) => {
    const { store } = await open(t)
    const prints = (text: string): Buffer => Buffer.from(text, 'latin1')
    await store.commit({
      ...batchOf(ROWS),
      nonces: prints('\0\xff345678'),
      keyFingerprints: prints('abcdefgh\0\xffcdefgh'),
      keyFingerprintsFirst: 1,
      userFingerprints: prints('ABCDEFG\n'),
      userLinks: '[["pi_1",0]]',
      userFirst: 3,
    })
    t.strictSame(await store.keyRows(), {
      masterKeys: ROWS.masterKeys,
      lastingKeys: ROWS.lastingKeys,
    })
    const boot = await store.boot(instant(7))
    const whole = [
      ...(['masterKeys', 'partners', 'signingKeys', 'endpoints', 'rates', 'routes'] as const),
      ...([
        'sandboxRates',
        'submissionPauses',
        'railRoutes',
        'callers',
        'approvalRequests',
        'balanceAlerts',
        'recoveries',
        'orphans',
      ] as const),
    ]
    for (const name of whole) t.strictSame(inOrder(boot[name]), inOrder(ROWS[name]), name)
    t.strictSame(
      inOrder(boot.accounts),
      inOrder(ROWS.accounts.map(({ id, balance }) => ({ id, balance: String(balance) }))),
    )
    t.strictSame(
      boot.discrepancies.map(({ id }) => id).sort(),
      ROWS.discrepancies.map(({ id }) => id),
    )
    t.equal(boot.lastPosting, 41)
    t.equal(boot.lastPosition, 42)
    t.equal(boot.settingsVersion, 2)
    t.equal(boot.indexedKeysThrough, 5)
    t.equal(boot.nonceSalt.length, 32)
    t.strictSame(await collected(boot.nonces), [
      { seen_at: 9, fingerprints: prints('\0\xff345678') },
    ])
    t.strictSame(await collected(boot.keyFingerprints), [
      { first: 1, prints: prints('abcdefgh\0\xffcdefgh') },
    ])
    t.strictSame(await collected(boot.userFingerprints), [
      { first: 3, prints: prints('ABCDEFG\n') },
    ])
    const [confirmed] = ROWS.intents
    t.strictSame(boot.recentlyConfirmed.map(parsedActor), [actor(confirmed)])
    t.strictSame((await store.boot(instant(8))).recentlyConfirmed, [])
  })

  void t.test('rows are loaded by their keys', async (t) => {
    const { store } = await open(t)
    await store.commit(batchOf(ROWS))
    const [a, usage] = [ROWS.intents[0].id, ROWS.usage]
    const wanted = {
      intents: [a, 'unknown'],
      payouts: [ROWS.payouts[0].id],
      beneficiaries: ['b', ROWS.beneficiaries[0].id],
      idempotency: ROWS.idempotency.map(({ sequence }) => sequence),
      indexedKeys: [],
      usage: usage.map(({ key }) => key),
      fxQuotes: ROWS.fxQuotes.map(({ id }) => id),
      discrepancies: ROWS.discrepancies.map(({ id }) => id),
      deposits: ['dep_1', 'unknown'],
    }
    await store.commit(batchOf({ entries: DEPOSIT_ENTRIES }))
    const found = await store.load(wanted)
    t.strictSame(found.intents.map(parsedActor), [actor(ROWS.intents[0])])
    t.strictSame(found.payouts.map(parsedActor), [actor(ROWS.payouts[0])])
    for (const name of ['beneficiaries', 'idempotency', 'fxQuotes', 'discrepancies'] as const)
      t.strictSame(inOrder(found[name]), inOrder(ROWS[name]), name)
    t.strictSame(
      inOrder(found.usage),
      inOrder(usage.map(({ key, used }) => ({ key, used: String(used) }))),
    )
    t.strictSame(found.deposits, [
      { deposit: 'dep_1', account: 'a', amount: String(MOST) },
      { deposit: 'dep_1', account: 'a', amount: '-7' },
    ])
    const nothing = await store.load(NOTHING_WANTED)
    t.strictSame(nothing, NOTHING_FOUND)
  })

  void t.test('rows of older keys are loaded by their fingerprints, to the last bit', async (t) => {
    const { store } = await open(t)
    const [row] = ROWS.idempotency
    const idempotency = [1, 2, 3, 4].map((sequence) => ({ ...row, sequence, key: `k${sequence}` }))
    const keyIndex = [
      { fingerprint: LEAST, sequence: 1 },
      { fingerprint: MOST, sequence: 2 },
      { fingerprint: MOST - 1n, sequence: 3 },
      { fingerprint: MOST, sequence: 4 },
    ]
    await store.commit(batchOf({ idempotency, keyIndex }))
    await store.commit(batchOf({ keyIndex })) // Repeated after a crash.
    const keysOf = async (...indexedKeys: bigint[]): Promise<string> => {
      const found = await store.load({ ...NOTHING_WANTED, indexedKeys })
      const keys = found.idempotency.map(({ key }) => key).sort()
      t.strictSame(
        (await store.lists.search.keys([], indexedKeys)).map((one) => one.key).sort(),
        keys,
      )
      return keys.join()
    }
    t.equal(await keysOf(MOST), 'k2,k4')
    t.equal(await keysOf(LEAST, MOST - 1n), 'k1,k3')
    t.equal(await keysOf(LEAST + 1n), '')
    const both = await store.lists.search.keys([3], [LEAST])
    t.same(both.map(({ key }) => key).sort(), ['k1', 'k3'])
  })

  void t.test('a later row of the same key replaces all but the fixed columns', async (t) => {
    const { store, raw } = await open(t)
    await store.commit(batchOf(ROWS))
    const keyed = TABLE_NAMES.filter((name) => 'key' in TABLES[name])
    const later = Object.fromEntries(keyed.map((name) => [name, [replacing(name)]]))
    await store.commit(batchOf(later))
    for (const name of keyed) {
      const { fixed = [] }: Table = TABLES[name]
      const [first, second] = ROWS[name]
      const expected = { ...replacing(name), ...picked(first, fixed) }
      t.strictSame(await rowsIn(raw, name), [expected, second], name)
    }
  })

  void t.test('a text of 1 MB is exact, in every kind of parameter', async (t) => {
    const { store, raw } = await open(t)
    const long = SPECIAL.repeat(Math.ceil(2 ** 20 / SPECIAL.length))
    const rows = {
      intents: [{ ...ROWS.intents[1], context: { long } }],
      idempotency: [{ ...ROWS.idempotency[0], response: long }],
      events: [{ ...ROWS.events[0], body: long }],
      operatorLog: [{ ...ROWS.operatorLog[0], evidence: long }],
    }
    await store.commit(batchOf(rows))
    for (const name of Object.keys(rows) as (keyof typeof rows)[])
      t.ok(sameRows(await rowsIn(raw, name), rows[name]), name)
    const [event] = await store.openEvents(0, 1)
    t.ok(event?.body === long)
    const found = await store.load({ ...NOTHING_WANTED, idempotency: [1] })
    t.ok(found.idempotency[0]?.response === long)
  })
}

function testBatches(open: OpenContractBooks): void {
  void t.test('a batch has any number of rows, and the next number', async (t) => {
    const { store, raw } = await open(t)
    t.equal((await store.boot(instant(0))).lastBatch, 0)
    await store.commit(batchOf({}))
    const counts = await Promise.all(TABLE_NAMES.map((name) => rowsIn(raw, name)))
    t.same(counts.flat(), [], 'an empty batch writes no rows')
    t.equal((await store.boot(instant(0))).lastBatch, 1)

    const many = Array.from({ length: 3_000 }, (_, i) => i + 1)
    const [entry, line] = [ROWS.entries[0], ROWS.operatorLog[0]]
    const rows = {
      entries: many.map((posting) => ({ ...entry, posting, amount: BigInt(posting) })),
      usage: many.map((n) => ({ key: String(n).padStart(9, '0'), used: MOST - BigInt(n) })),
      operatorLog: many.map((at) => ({ ...line, at })),
    }
    await store.commit(batchOf(rows))
    for (const name of Object.keys(rows) as (keyof typeof rows)[])
      t.ok(sameRows(await rowsIn(raw, name), rows[name]), name)
    const boot = await store.boot(instant(0))
    t.equal(boot.lastBatch, 2)
    t.equal(boot.lastPosting, many.length)
  })

  void t.test('a rejected batch writes nothing and has no number', async (t) => {
    const { store, raw } = await open(t)
    const prints = {
      nonces: Buffer.alloc(8),
      keyFingerprints: Buffer.alloc(8),
      userFingerprints: Buffer.alloc(8),
    }
    const rejected: readonly [CommitRows, RegExp][] = [
      [{ ...batchOf({ ...ROWS, accounts: [OVERDRAWN] }), ...prints }, /check/i],
      [batchOf({ ...ROWS, events: [ROWS.events[0], ROWS.events[0]] }), /unique/i],
      [batchOf({ intents: [anIntent('pi_1', 'paid')] }), /check/i],
    ]
    for (const [batch, why] of rejected) {
      await t.rejects(store.commit(batch), why)
      const rows = await Promise.all(TABLE_NAMES.map((name) => rowsIn(raw, name)))
      t.same(rows.flat(), [])
      const { lastBatch, ...boot } = await store.boot(instant(0))
      for (const rows of [boot.nonces, boot.keyFingerprints, boot.userFingerprints]) {
        t.same(await collected(rows as AsyncIterable<object>), [])
      }
      t.equal(lastBatch, 0)
    }
    await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
    await t.rejects(store.commit(batchOf({ accounts: [OVERDRAWN] })), /check/i)
    await store.barrier()
    await store.commit(batchOf({ intents: [anIntent('pi_2')] }))
    t.equal((await store.boot(instant(0))).lastBatch, 2)
    t.same(await dueIds(store, 'intents', instant(5), 10), ['pi_1', 'pi_2'])
  })

  void t.test('commits are read after the books are opened again', async (t) => {
    const { store, reopen } = await open(t)
    const salt = (await store.boot(instant(0))).nonceSalt
    await store.commit({ ...batchOf({ intents: [anIntent('pi_1')] }), nonces: Buffer.alloc(16, 1) })
    await store.commit(batchOf({ intents: [anIntent('pi_2')] }))
    const second = await reopen()
    const boot = await second.boot(instant(0))
    t.same(await collected(boot.nonces), [{ seen_at: 9, fingerprints: Buffer.alloc(16, 1) }])
    t.same(boot.nonceSalt, salt, 'stored fingerprints depend on it')
    t.equal(boot.lastBatch, 2)
    await second.commit(batchOf({ intents: [anIntent('pi_3')] }))
    t.equal((await second.boot(instant(0))).lastBatch, 3, 'the numbers continue')
    t.same(await dueIds(second, 'intents', instant(5), 10), ['pi_1', 'pi_2', 'pi_3'])
  })

  void t.test('due actors are listed by time, up to a limit', async (t) => {
    const { store } = await open(t)
    const times = [30, 10, null, 20, 40, 40]
    const due = times.map((due_at, i) => ({ due_at, id: `${i}` }))
    await store.commit(
      batchOf({
        intents: due.map((row) => ({ ...anIntent(''), ...row })),
        payouts: due.map((row) => ({ ...ROWS.payouts[1], ...row })),
      }),
    )
    for (const kind of ['intents', 'payouts'] as const) {
      t.same(await dueIds(store, kind, instant(9), 9), [])
      t.same(await dueIds(store, kind, instant(30), 9), ['1', '3', '0'], 'an actor that is due now')
      t.same(await dueIds(store, kind, instant(99), 2), ['1', '3'], 'the earliest ones')
      const [, second] = await store.due(kind, instant(99), 2)
      t.same(second, { id: '3', dueAt: 20 })
      const next = await store.due(kind, instant(99), 2, second)
      t.same(
        next.map(({ id }) => id),
        ['0', '4'],
        'the next page',
      )
      const last = await store.due(kind, instant(99), 2, next[1])
      t.same(last, [{ id: '5', dueAt: 40 }], 'one that is due at once with another')
    }
    await store.commit(batchOf({ intents: [{ ...anIntent('1', 'cancelled'), due_at: null }] }))
    t.same(await dueIds(store, 'intents', instant(30), 9), ['3', '0'])
    t.same(await dueIds(store, 'payouts', instant(30), 9), ['1', '3', '0'])
  })
}

function testNonces(open: OpenContractBooks): void {
  void t.test('expired nonces are deleted, oldest first, a limited number a commit', async (t) => {
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

  void t.test('all stored nonces are loaded at startup, in order', async (t) => {
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

function testRetention(open: OpenContractBooks): void {
  void t.test('expired rows are deleted, and no other', async (t) => {
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
          { sequence: 1, fingerprint: 5n },
          { sequence: 2, fingerprint: LEAST },
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

function testEvents(open: OpenContractBooks): void {
  void t.test('the last sequence of each tenant is loaded at startup', async (t) => {
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

  void t.test('the schema allows one event per transition', async (t) => {
    const { store } = await open(t)
    await store.commit(batchOf({ events: [anEvent(1)] }))
    const again = { ...anEvent(2), entity: anEvent(1).entity }
    await t.rejects(store.commit(batchOf({ events: [again] })), /unique/i)
    t.equal((await store.openEvents(0, 10)).length, 1)
  })

  void t.test('open events are listed in order until they are settled, once', async (t) => {
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

const OVERDRAWN = { id: 'demo_sandbox:VND:prefund', balance: -1n }

/** The rows of a table, in the order of its key. */
async function rowsIn<N extends TableName>(reader: Reader, name: N): Promise<readonly Row<N>[]> {
  const { name: table, columns, key }: Table = TABLES[name]
  const order = (key ?? Object.keys(columns)).join(', ')
  const rows = await reader.all<StoredRow>(
    `SELECT ${columnsOf(name)} FROM ${table} ORDER BY ${order}`,
  )
  return rows.map((row) => fromStored(name, row))
}

const picked = (row: AnyRow, columns: readonly string[]): AnyRow =>
  Object.fromEntries(columns.map((column) => [column, row[column]]))

/** The table's second row under the key of its first. */
function replacing(name: TableName): AnyRow {
  const { key = [] }: Table = TABLES[name]
  const [first, second] = ROWS[name]
  return { ...second, ...picked(first, key) }
}

const asText = (row: object): string =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))

/** Where the order is not part of the contract. */
const inOrder = (rows: readonly object[]): readonly object[] =>
  [...rows].sort((a, b) => (asText(a) < asText(b) ? -1 : 1))

/** Compares rows that are too large for a diff. */
const sameRows = (found: readonly object[], given: readonly object[]): boolean =>
  inOrder(found).map(asText).join() === inOrder(given).map(asText).join()

/** The loaded members of an actor's row. */
const actor = ({ id, tenant, state, context }: Row<'intents'> | Row<'payouts'>): AnyRow => ({
  ...{ id, tenant, state },
  context,
})

const parsedActor = (row: { readonly context: string }): AnyRow => ({
  ...row,
  context: JSON.parse(row.context) as unknown,
})
