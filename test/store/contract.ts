/**
 * The contract of the store, which SQLite, PostgreSQL and the simulated store keep: atomic,
 * numbered commits, exact for every column of every table, guarded by the schema.
 *
 * Does not own: what only one store does (store.test, postgres.test, simulation).
 */
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import type { CommitRows } from '../../src/store/store.js'
import {
  BUSY_TABLES,
  TABLE_NAMES,
  TABLES,
  type Row,
  type Table,
  type TableName,
} from '../../src/store/tables.js'
import { collected } from '../support/collected.js'
import { anIntent, batchOf, NOTHING_FOUND, NOTHING_WANTED } from './commit_rows.js'
import { testEvents, testNonces, testRetention } from './contract_retention.js'
import { LEAST, MOST, ROWS, SPECIAL } from './contract_rows.js'
import { rowsIn, type OpenContractBooks } from './rows_in_books.js'
import { dueIds } from '../support/due_ids.js'

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
  t.test('each table returns all columns of its rows as they were written', async (t) => {
    const { store, raw } = await open(t)
    await store.commit(batchOf(ROWS))
    for (const name of TABLE_NAMES) t.strictSame(await rowsIn(raw, name), ROWS[name], name)
    t.equal(await store.stoppedByRecovery(), 'submissions', 'one recovery is not released')
  })

  t.test('so does a commit of payments only', async (t) => {
    const { store, raw } = await open(t)
    const ofPayments = BUSY_TABLES.map((name) => [name, ROWS[name]] as const)
    await store.commit(batchOf(Object.fromEntries(ofPayments)))
    for (const [name, rows] of ofPayments) t.strictSame(await rowsIn(raw, name), rows, name)
  })

  t.test('the rows for the start are those that were written', async (t) => {
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

  t.test('rows are loaded by their keys', async (t) => {
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

  t.test('rows of older keys are loaded by their fingerprints, to the last bit', async (t) => {
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

  t.test('a later row of the same key replaces all but the fixed columns', async (t) => {
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

  t.test('a text of 1 MB is exact, in every kind of parameter', async (t) => {
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
  t.test('a batch has any number of rows, and the next number', async (t) => {
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

  t.test('a rejected batch writes nothing and has no number', async (t) => {
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

  t.test('commits are read after the books are opened again', async (t) => {
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

  t.test('due actors are listed by time, up to a limit', async (t) => {
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

const OVERDRAWN = { id: 'demo_sandbox:VND:prefund', balance: -1n }

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
