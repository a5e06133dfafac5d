/** The sandbox bank's statement: one line for each movement of a period. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { instant } from '../../src/base/clock.js'
import { createMovementTally } from '../../src/base/movements.js'
import { systemRandom } from '../../src/base/random.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { readAccountBox } from '../../src/rails/adapter/account_box.js'
import { openJournal } from '../../src/rails/sandbox/journal.js'
import { summaryOf } from '../../src/rails/adapter/summary.js'
import { statementOf } from '../../src/rails/adapter/statement.js'
import { openStatement } from '../../src/reconciliation/statement.js'
import { collected } from '../support/collected.js'

const HEAD = [
  'time,transaction_id,instruction_id,movement,currency,amount',
  'environment,purpose,destination_account,reference,shard',
].join()
const MOST = '9223372036854775807'
const at = (ms: number): string => new Date(ms).toISOString()

const INSERT = `INSERT INTO instructions (id, purpose, amount, currency, account, content,
  received_at, state, refusal, transaction_id, executions, executed_at, returned_at)`

/** A journal with these rows, and its statement. */
async function aJournal(t: Test, rows: string) {
  const folder = t.testdir()
  const file = join(folder, 'rail.db')
  await (await openJournal(file, systemRandom())).close()
  const journal = await openDatabase(file)
  t.teardown(() => journal.close())
  await journal.exec(rows)
  const accounts = readAccountBox(file, systemRandom())
  const statement = async (from: number, to: number): Promise<string> =>
    (await collected(statementOf(journal, accounts, from, to))).join('')
  return { folder, journal, statement }
}

t.test('the statement has a line for each movement and each accepted instruction', async (t) => {
  const { statement } = await aJournal(
    t,
    `${INSERT} VALUES
    ('pout_1', 'payout', ${MOST}, 'VND', '1', 'c', 1, 'executed', NULL, 'TX1', 1, 10, NULL),
    ('pout_2', 'payout', 5, 'THB', '2', 'c', 2, 'returned', NULL, 'TX2', 1, 19, 20),
    ('pout_3', 'payout', 6, 'THB', '3', 'c', 3, 'refused', 'rejected', NULL, 0, NULL, NULL),
    ('pout_4', 'payout', 7, 'THB', '4', 'c', 4, 'pending', NULL, NULL, 0, NULL, NULL)`,
  )
  const lines = async (from: number, to: number): Promise<string[]> =>
    (await statement(from, to)).split('\r\n')
  const one = `${at(10)},TX1,pout_1,executed,VND,${MOST},,payout,1,,`
  const out = `${at(19)},TX2,pout_2,executed,THB,5,,payout,2,,`
  const back = `${at(20)},TX2,pout_2,returned,THB,5,,payout,2,,`
  const open = `${at(4)},,pout_4,accepted,THB,7,,payout,4,,`
  t.same(await lines(0, 100), [HEAD, one, out, back, open, ''])
  t.same(await lines(10, 20), [HEAD, one, out, open, ''], 'the end of the period is excluded')
  t.same(await lines(11, 19), [HEAD, open, ''], 'accepted before the period, and still open')
  t.same(await lines(20, 21), [HEAD, back, open, ''])
  t.same(await lines(0, 4), [HEAD, ''], 'accepted after the period')
})

t.test('a statement of more than a page is complete', async (t) => {
  const { statement } = await aJournal(
    t,
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
    ${INSERT}
    SELECT 'pout_' || i, 'payout', i, 'VND', '1', 'c', 1, 'executed', NULL, 'TX', 1, i, NULL
    FROM n`,
  )
  t.equal((await statement(0, 20_000)).split('\r\n').length - 1, 1 + 10_001)
})

t.test('the summary of a period has the figures of its statement', async (t) => {
  const { folder, journal, statement } = await aJournal(
    t,
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5003)
    ${INSERT.replace(')', ', shard)')}
    SELECT 'pout_' || i, 'payout', i, iif(i % 2, 'VND', 'THB'), '1', 'c', 1,
      iif(i % 7, 'executed', 'returned'), NULL, 'TX', 1, 2 * i, iif(i % 7, NULL, 2 * i + 5),
      iif(i % 3, 'books_1', 'books_2') FROM n;
    ${INSERT} VALUES
      ('pout_r', 'payout', 6, 'THB', '3', 'c', 3, 'refused', 'rejected', NULL, 0, NULL, NULL),
      ('pout_p', 'payout', 7, 'THB', '4', 'c', 0, 'pending', NULL, NULL, 0, NULL, NULL);
    UPDATE instructions SET shard = 'books_2' WHERE id = 'pout_p'`,
  )
  for (const [from, to] of [
    [0, 20_000],
    [0, 1],
    [17, 4_001],
    [9_999, 10_003],
  ] as const) {
    writeFileSync(join(folder, 'day.csv'), await statement(from, to))
    const tally = createMovementTally()
    const acceptedTally = createMovementTally()
    for await (const read of openStatement(join(folder, 'day.csv')).lines()) {
      if ('bad' in read) throw new Error(read.bad.fault)
      if ('good' in read) tally.add(read.good)
      else acceptedTally.add(read.accepted)
    }
    const period = { from: instant(from), to: instant(to) }
    const { newest, accepted, ...figures } = await summaryOf(journal, period, undefined)
    t.same(figures, tally.figures(), `${from} to ${to}`)
    t.same(accepted, acceptedTally.figures())
    t.same(newest, { instruction: 'pout_5003', movement: 'executed', at: 10_006 })
  }
  const all = { from: instant(0), to: instant(20_000) }
  const { newest, sums, accepted } = await summaryOf(journal, all, 'books_2')
  t.match(accepted?.sums, [{ currency: 'THB', movement: 'accepted', count: 1, amount: 7n }])
  t.equal(newest?.instruction, 'pout_5001', 'the newest movement of the shard')
  t.equal(
    sums.reduce((total, { count }) => total + count, 0),
    5_003 + 714,
    'of all shards',
  )
  const other = await summaryOf(journal, all, 'books_9')
  t.match(other, { newest: null, accepted: { sums: [] } })
})
