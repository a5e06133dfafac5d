/**
 * The payments of a partner are set apart in steps, move with it and are put in place: both shards
 * have each row once at each moment, also after a crash in any step, and their audits are clean.
 */
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import {
  copyOf,
  copyStep,
  inStep,
  makeReady,
  restOf,
  vacuum,
} from '../../src/store/cluster/partner_copy.js'
import { settleStep, undoCopy, undoStep } from '../../src/store/cluster/partner_settling.js'
import type { PartnerMove } from '../../src/store/cluster/partner_moves.js'
import { lastNumbers, type Numbers } from '../../src/store/cluster/partner_numbers.js'
import { beginTransfer, transferPartner } from '../../src/store/cluster/partner_transfer.js'
import type { Connection } from '../../src/store/postgres/connection.js'
import { auditShards } from '../cluster/shard_audit.js'
import { requirePostgres } from '../support/postgres_server.js'
import { BACK, BY, openTwoShards, THERE } from './two_shards.js'

requirePostgres(t)

const COUNT = 300
const OPEN = 40
const COUNTED = [
  ...(['intents', 'payouts', 'beneficiaries', 'limit_usage', 'ledger_entries', 'events'] as const),
  ...(['event_outcomes', 'outbox', 'idempotency', 'ledger_accounts'] as const),
]

const seeded = { count: COUNT, open: OPEN, now: systemClock.now() }
const { url, dataDir, cluster, connectTo, sql } = await openTwoShards(t, seeded)

/** The process ends before the commit of its transaction. */
const crashing: Connection = {
  ...sql,
  exec: async (text) => {
    if (text !== 'COMMIT') return sql.exec(text)
    await sql.exec('ROLLBACK')
    throw new Error('crash')
  },
}

const assertClean = async (t: Test): Promise<void> => {
  const { shards, union } = await auditShards({ url, dataDir })
  t.same(union, [])
  for (const { shard, clean, report } of shards) t.ok(clean, `${shard}: ${report}`)
}

const rowsIn = async (shard: string): Promise<unknown> => {
  const counts = COUNTED.map((table) => `(SELECT count(*) FROM ${shard}.${table}) AS ${table}`)
  return (await sql.all(`SELECT ${counts.join(', ')}`))[0]
}
const present = async () => (await copyOf(sql, 'demo'))!

const firstByte = (byte: string): string =>
  `UPDATE books_2."demo new idempotency_prints" SET prints = set_byte(prints, 0,
    get_byte(prints, 0) ${byte}) WHERE first = (
      SELECT min(first) FROM books_2."demo new idempotency_prints")`
/** The shard whose audit finds it, the damage, and its end. */
const DAMAGES = [
  ['books_2', firstByte('# 1'), firstByte('# 1')],
  [
    'books_2',
    `UPDATE books_2."demo new ledger_entries" SET posted_as = posting + 1 WHERE posting = (
      SELECT min(posting) FROM books_2."demo new ledger_entries")`,
    `UPDATE books_2."demo new ledger_entries" AS new SET posted_as = old.posting
      FROM books_2."demo ledger_entries" AS old WHERE new.posted_as = new.posting + 1
        AND old.entity = new.entity AND old.line = new.line AND old.plan = new.plan`,
  ],
  // Fingerprints without keys are allowed only while the shard that was left forgets them.
  [
    'books_1',
    `DELETE FROM books_1.meta WHERE name = 'left by demo'`,
    `INSERT INTO books_1.meta VALUES ('left by demo', '')`,
  ],
] as const

const everything = await rowsIn('books_1')
const nothing = await rowsIn('books_2')

/** Each step crashes once before it is made. @returns how many were made */
async function crashedOnce(make: (rows: Connection) => Promise<boolean>): Promise<number> {
  for (let steps = 1; ; steps++) {
    const isNext = await make(crashing).catch((error: unknown) => {
      if ((error as Error).message === 'crash') return make(sql)
      throw error
    })
    if (!isNext) return steps
  }
}
/** Another partner's intent comes to the shard. */
const foreignComes = (shard: string): Promise<void> =>
  sql.exec(`INSERT INTO ${shard}.intent_users (first, prints, links)
    SELECT max(first + length(prints) / 8), '\\x0102030405060708', '[["pi_foreign",0]]'
    FROM ${shard}.intent_users`)
const foreignGoes = (shard: string): Promise<void> =>
  sql.exec(`DELETE FROM ${shard}.intent_users WHERE links LIKE '%pi_foreign%'`)
const STEPS_MAX = 500
/** @returns whether the steps end while others pay between each two */
async function endsAmongOthers(shard: string, step: () => Promise<boolean>): Promise<boolean> {
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    await foreignComes(shard)
    if (!(await step())) return true
  }
  return false
}
const pass = (): Promise<number> => crashedOnce(async (rows) => copyStep(rows, await present()))

async function moved(
  move: PartnerMove,
  whenReady = (): Promise<void> => Promise.resolve(),
): Promise<unknown> {
  await vacuum(sql, await present())
  await makeReady(sql, await present())
  await whenReady()
  if (!(await cluster.requestPartnerMove(move, BY))) throw new Error('refused')
  await beginTransfer(sql, move)
  return transferPartner(sql, move)
}

t.test('a step of a former owner takes nothing back', async (t) => {
  t.ok(await cluster.requestPartnerCopy(THERE, BY))
  const searching = await present()
  while ((await present()).begunAt === null) await copyStep(sql, await present())
  await t.rejects(copyStep(sql, searching), { message: /has gone on meanwhile/ })
  t.ok((await present()).begunAt)
  await inStep(sql, async () => {
    const [rest] = await sql.all<{ within: string }>(
      "SELECT current_setting('idle_in_transaction_session_timeout') AS within",
    )
    t.equal(rest?.within, '3s', 'the server ends a step that rests')
  })
  await undoCopy(sql, await present(), 'a test')
  while (await undoStep(sql, await present()));
})

t.test('payments are set apart while the shard has them', async (t) => {
  t.ok(await cluster.requestPartnerCopy(THERE, BY))
  t.notOk(await cluster.requestPartnerCopy(THERE, BY), 'once')
  t.ok((await pass()) > 10)
  t.same(await rowsIn('books_1'), everything)
  t.same(await rowsIn('books_2'), nothing)
  t.equal(await restOf(sql, THERE), OPEN)
  await assertClean(t)
})

t.test('a pass ends while others pay', async (t) => {
  const isEnded = await endsAmongOthers('books_1', async () => copyStep(sql, await present()))
  t.ok(isEnded)
  await foreignGoes('books_1')
})

t.test('a row that is written again is not set apart', async (t) => {
  const [row] = await sql.all<{ id: string }>('SELECT id FROM books_2."demo intents" LIMIT 1')
  await sql.run(
    `INSERT INTO books_1.intents SELECT * FROM books_1.intents WHERE id = ?
     ON CONFLICT (id) DO UPDATE SET context = excluded.context`,
    [row!.id],
  )
  t.same(await rowsIn('books_1'), everything)
  t.equal(await restOf(sql, THERE), OPEN + 1)
})

t.test('a deleted row has no twin in the other shard', async (t) => {
  const twins = async () =>
    (await sql.all<{ n: number }>('SELECT count(*) AS n FROM books_2."demo new events"'))[0]!.n
  const before = await twins()
  await sql.exec('BEGIN')
  await sql.run(`DELETE FROM books_1.events
    WHERE position = (SELECT min(position) FROM books_2."demo events")`)
  t.equal(await twins(), before - 1)
  await sql.exec('ROLLBACK')
})

t.test('it moves with them, and rows are put in place', async (t) => {
  // What another partner has had since the last step stays.
  await foreignComes('books_1')
  const foreign = (shard: string) =>
    sql.all(`SELECT 1 FROM ${shard}.intent_users WHERE links LIKE '%pi_foreign%'`)
  const whileVacuumed = async (): Promise<void> => {
    const vacuum = await connectTo('books_2', t)
    await vacuum.exec('BEGIN; LOCK TABLE "demo new events" IN SHARE UPDATE EXCLUSIVE MODE')
    t.match(await beginTransfer(sql, THERE), 'lock timeout', 'it waits before the shards are held')
    await vacuum.exec('ROLLBACK')
  }
  const end = await moved(THERE, whileVacuumed)
  t.match(end, { kind: 'moved', payments: 2 * COUNT })
  t.same([(await foreign('books_1')).length, (await foreign('books_2')).length], [1, 0])
  await foreignGoes('books_1')
  t.same(await rowsIn('books_2'), everything)
  t.same(await rowsIn('books_1'), nothing)
  await assertClean(t)
  for (const [shard, damage, repair] of DAMAGES) {
    await sql.exec(damage)
    const { shards } = await auditShards({ url, dataDir })
    const broken = shards.filter(({ clean }) => !clean).map((each) => each.shard)
    t.same(broken, [shard], damage)
    await sql.exec(repair)
  }
  await crashedOnce(async (rows) => settleStep(rows, await present(), () => undefined))
  t.same(await rowsIn('books_2'), everything)
  await assertClean(t)
  const forgotten = await sql.all(
    "SELECT 1 FROM pg_prepared_statements WHERE statement LIKE 'SELECT max(first) AS last%'",
  )
  t.equal(forgotten.length, 1, 'steps have one text: the server keeps each prepared')
})

/** The first link of a shard, with a number of the user's intent before it. */
const firstLink = `SELECT first, links::json -> 0 ->> 0 AS id,
  (links::json -> 0 ->> 1)::bigint AS before FROM`
t.test('it returns, and its rows are in place again', async (t) => {
  const last = async () => (await sql.all<Numbers>(lastNumbers('books_1')))[0]!
  const before = await last()
  // What it had before the intent is archived.
  const [link] = await sql.all<{ first: number; id: string }>(
    `UPDATE books_2.intent_users SET links = replace(links, json_build_array(
        links::json -> 0 ->> 0, 0)::text, json_build_array(links::json -> 0 ->> 0, 7)::text)
      WHERE first = (SELECT min(first) FROM books_2.intent_users)
      RETURNING first, links::json -> 0 ->> 0 AS id`,
  )
  const linkIn = (condition: string) =>
    sql.all<{ before: number }>(`${firstLink} ${condition}`).then(([found]) => found?.before)
  t.equal(await linkIn(`books_2.intent_users WHERE first = ${link!.first}`), 7)
  t.ok(await cluster.requestPartnerCopy(BACK, BY))
  await pass()
  t.match(await moved(BACK), { kind: 'moved', payments: 2 * COUNT })
  await assertClean(t)
  t.equal(
    await linkIn(`books_1.intent_users WHERE links::json -> 0 ->> 0 = '${link!.id}'`),
    0,
    'a link to an intent that is gone names none of another partner',
  )
  const used = await last()
  for (const [kind, margin] of [
    ['posting', 1e9],
    ['position', 1e9],
    ['key', 1e7],
    ['intent', 1e7],
  ] as const)
    t.ok(used[kind] - before[kind] < 1.5 * margin, `numbers of each ${kind} that the move uses`)
  const settle = async () => settleStep(sql, await present(), () => undefined)
  t.ok(await endsAmongOthers('books_2', settle), 'it ends while others pay')
  await foreignGoes('books_2')
  t.same(await rowsIn('books_1'), everything)
  t.same(await rowsIn('books_2'), nothing)
  await assertClean(t)
})

t.test('a move that is given up is undone', async (t) => {
  t.ok(await cluster.requestPartnerCopy(THERE, BY))
  await pass()
  await undoCopy(sql, await present(), 'a test')
  await crashedOnce(async (rows) => undoStep(rows, await present()))
  t.same(await rowsIn('books_1'), everything)
  t.same(await rowsIn('books_2'), nothing)
  const left = await sql.all("SELECT 1 FROM pg_class WHERE relname LIKE 'demo %'")
  t.same(left, [], 'no table is left')
  await assertClean(t)
})
