/**
 * The ledger of a shard that took a partner in: its entries are older than those posted there
 * before, periods and balances are right all the same, and public ids and cursors stay.
 */
import t, { type Test } from 'tap'
import { HOUR, instant, MINUTE } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import type { HeldAt, PartnerMove } from '../../src/store/cluster/partner_moves.js'
import { beginTransfer, transferPartner } from '../../src/store/cluster/partner_transfer.js'
import { POSTGRES } from '../../src/store/dialect.js'
import { asText, rowsOf } from '../../src/store/json_page.js'
import {
  createLedger,
  LISTED_ENTRY,
  type Ledger,
  type ListedEntry,
  type PostingRange,
} from '../../src/store/ledger.js'
import { entriesStatement, movedPostingStatement } from '../../src/store/lists.js'
import type { Statement } from '../../src/store/database.js'
import { eventually } from '../support/eventually.js'
import { requirePostgres } from '../support/postgres_server.js'
import { BACK, BY, openTwoShards, THERE } from './two_shards.js'

requirePostgres(t)

const FOREVER = Number.MAX_SAFE_INTEGER
const DEMO = 'demo_sandbox' as TenantId
const HELD: HeldAt = { epoch: 1, batch: 1 }
const POSTED_BEFORE = 60

const seeded = { count: 40, open: 8, now: instant(Date.UTC(2026, 10, 21)) }
const { cluster, connectTo, sql, shards } = await openTwoShards(t, seeded)
type Shard = keyof typeof shards
const OTHER = 'other_sandbox:USD'
/** `count` postings of another partner, from a moment to another one. */
const post = (shard: Shard, count: number, from: string, to: string): Promise<void> =>
  shards[shard].exec(`
    INSERT INTO ledger_accounts VALUES ('${OTHER}:prefund', 0), ('${OTHER}:funding', 0)
      ON CONFLICT DO NOTHING;
    INSERT INTO ledger_entries (posting, line, account, tenant, amount, balance, plan, entity, at)
      SELECT last + n, line, account, 'other_sandbox', amount, balance + amount * n, 'deposit',
        'dep_' || last + n, (${from}) + ((${to}) - (${from})) * n / ${count}
      FROM (SELECT coalesce(max(posting), 0) AS last FROM ledger_entries) AS found,
        generate_series(1, ${count}) AS n,
        (VALUES (1, '${OTHER}:prefund', 5), (2, '${OTHER}:funding', -5))
          AS lines (line, account, amount) JOIN ledger_accounts AS a ON a.id = account;
    UPDATE ledger_accounts SET balance = balance + ${5 * count} WHERE id = '${OTHER}:prefund';
    UPDATE ledger_accounts SET balance = balance - ${5 * count} WHERE id = '${OTHER}:funding'`)
// They are posted while the partner that moves pays in its own shard, and longer.
const [moments] = await shards.books_1.all<{ low: number; high: number }>(
  'SELECT min(at) AS low, max(at) AS high FROM ledger_entries',
)
await post('books_2', POSTED_BEFORE, String(moments!.low), String(moments!.high + 60_000))

const readOf =
  (shard: Shard) =>
  <R>({ sql: text, values }: Statement): Promise<R[]> =>
    shards[shard].all<R>(text(POSTGRES), values)
const pageOf = async (shard: Shard, statement: Statement): Promise<readonly ListedEntry[]> => {
  const [found] = await readOf(shard)<{ page: string | null }>(asText(statement, LISTED_ENTRY))
  return rowsOf<ListedEntry>(found?.page ?? '[]', LISTED_ENTRY)
}
const ledgerOf = (shard: Shard): Ledger =>
  createLedger(readOf(shard), async (statement, columns) => {
    const [found] = await readOf(shard)<{ page: string | null }>(asText(statement, columns))
    return rowsOf(found?.page ?? '[]', columns)
  })

/** What public ids and cursors are made of. */
const nameOf = ({ posting, posted_as: first, line }: ListedEntry): string =>
  `${first ?? posting}.${line}`
const listedIn = (shard: Shard): Promise<readonly ListedEntry[]> =>
  pageOf(shard, entriesStatement(DEMO, { posting: FOREVER, line: 0 }, 10_000))
/** The entries after each cursor. */
async function assertCursors(t: Test, shard: Shard, names: readonly string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    const [first, line] = name.split('.').map(Number) as [number, number]
    const [moved] = await readOf(shard)<{ posting: number }>(movedPostingStatement(DEMO, first))
    const below = { posting: moved?.posting ?? first, line }
    const page = await pageOf(shard, entriesStatement(DEMO, below, 3))
    t.same(page.map(nameOf), names.slice(index + 1, index + 4), `after ${name}`)
  }
}

async function move(to: PartnerMove): Promise<void> {
  if (!(await cluster.requestPartnerMove(to, BY))) throw new Error('the move is refused')
  await beginTransfer(sql, to)
  const ended = await transferPartner(sql, to)
  if (ended.kind !== 'moved') throw new Error(JSON.stringify(ended))
}

/** Each period and its balances against all entries. */
async function assertPeriods(t: Test, shard: Shard): Promise<void> {
  const ledger = ledgerOf(shard)
  const all = await ledger.entries({ posting: 0, line: 0 }, FOREVER, 10_000)
  const isIn = ({ posting }: ListedEntry, ranges: readonly PostingRange[]): boolean =>
    ranges.some(({ from, below }) => posting >= from && posting < below)
  const ats = [...new Set(all.map(({ at }) => at))].sort((one, other) => one - other)
  const sampled = [0, ...ats.filter((_, index) => index % 7 === 0), ats.at(-1)!, FOREVER]
  for (const moment of sampled) {
    const since = await ledger.postingsSince(moment)
    const found = all.filter((entry) => isIn(entry, since)).map(nameOf)
    const expected = all.filter(({ at }) => at >= moment).map(nameOf)
    t.same(found, expected, `entries since ${moment}`)
    const balances = await ledger.balancesWithout(since, () => Promise.resolve(true))
    const sums = new Map([...balances!.keys()].map((account) => [account, 0n]))
    for (const { account, amount, at } of all)
      if (at < moment) sums.set(account, sums.get(account)! + amount)
    t.same(balances, sums, `balances at ${moment}`)
  }
}

const before = (await listedIn('books_1')).map(nameOf)

/** Both owners have seen the request, and the other one has stopped. */
async function requestHeld(at: HeldAt): Promise<void> {
  await cluster.requestPartnerMove(THERE, BY)
  await cluster.beginPartnerMove(THERE)
  await cluster.holdForPartnerMove(THERE, at)
}

t.test('nothing moves while an owner is at another batch or epoch', async (t) => {
  const connection = await connectTo('cluster', t)
  const owner = `SELECT epoch, last_batch AS batch FROM`
  const [[left], [other]] = await Promise.all([
    connection.all<HeldAt>(`${owner} books_1.owner`),
    connection.all<HeldAt>(`${owner} books_2.owner`),
  ])
  await sql.exec("UPDATE books_1.owner SET holder = 'a'; UPDATE books_2.owner SET holder = 'b'")
  const [at, there] = [left!, other!]
  for (const held of [
    { books_1: { ...at, batch: at.batch + 1 }, books_2: there },
    { books_1: at, books_2: { ...there, epoch: there.epoch + 1 } },
  ]) {
    await requestHeld(held.books_2)
    await beginTransfer(connection, THERE)
    const ended = await transferPartner(connection, THERE, held)
    t.match(ended, { kind: 'given_up', cause: /the owner of books_\d has not waited/ })
    t.same((await listedIn('books_1')).map(nameOf), before)
    t.equal((await cluster.whereIs('demo'))?.shard, 'books_1')
  }
  await cluster.requestPartnerMove(THERE, BY)
  await beginTransfer(connection, THERE)
  const unheld = await transferPartner(connection, THERE, { books_1: at })
  t.equal(unheld.kind, 'not_now', 'the other owner has not stopped')
  await cluster.giveUpPartnerMove(THERE, 'a test')

  await requestHeld(there)
  await sql.exec('UPDATE partner_moves SET requested_at = requested_at - 60000')
  t.ok(await cluster.requestPartnerMove(THERE, BY), 'the first request took too long')
  t.equal(await cluster.partnerMoveState(THERE, there), 'given_up', 'the other owner goes on')
  await beginTransfer(connection, THERE)
  const next = await transferPartner(connection, THERE, { books_1: at, books_2: there })
  t.equal(next.kind, 'not_now', 'it has not stopped for the next one')
  await cluster.giveUpPartnerMove(THERE, 'a test')
})

t.test('an owner that waits cannot end a move whose transaction is under way', async (t) => {
  const connection = await connectTo('cluster', t)
  await cluster.requestPartnerMove(THERE, BY)
  t.notOk(await cluster.holdForPartnerMove(THERE, HELD), 'it has not begun')
  t.ok(await cluster.beginPartnerMove(THERE))
  t.ok(await cluster.holdForPartnerMove(THERE, HELD))
  const [pending] = await cluster.pendingPartnerMoves('books_2')
  t.same(pending, { ...THERE, isBegun: true, held: HELD })
  t.same(await cluster.pendingPartnerMoves('books_3'), [])
  await connection.exec(`BEGIN; SELECT 1 FROM partner_moves FOR UPDATE`)
  t.notOk(await cluster.giveUpPartnerMove(THERE, 'late'))
  t.equal(await cluster.partnerMoveState(THERE, HELD), 'pending')
  await connection.exec('ROLLBACK')
  t.ok(await cluster.giveUpPartnerMove(THERE, 'late'))
  t.equal(await cluster.partnerMoveState(THERE, HELD), 'given_up')
  t.notOk(await cluster.beginPartnerMove(THERE), 'it has ended')
  await sql.exec("UPDATE books_1.owner SET holder = ''; UPDATE books_2.owner SET holder = ''")
})

t.test('an owner waits for the other one longer than sessions may rest', async (t) => {
  const connection = await connectTo('cluster', t)
  await connection.exec(`SET idle_in_transaction_session_timeout = '100ms'`)
  const elsewhere = { epoch: 9, batch: 9 }
  await requestHeld(elsewhere)
  t.equal(await beginTransfer(connection, THERE), null)
  await eventually('it has rested', async () => {
    const [rest] = await sql.all<{ isLong: boolean }>(
      `SELECT clock_timestamp() - state_change > '300ms' AS "isLong"
       FROM pg_stat_activity WHERE pid = ?`,
      [connection.session],
    )
    return rest?.isLong ?? true
  })
  const held = { books_1: elsewhere, books_2: elsewhere }
  const ended = await transferPartner(connection, THERE, held)
  t.match(ended, { kind: 'given_up', cause: /the owner of books_\d has not waited/ })
})

t.test('periods and balances of a shard that took a partner in', async (t) => {
  t.ok(before.length > 100)
  await assertPeriods(t, 'books_1')
  await move(THERE)
  await post('books_2', 10, String(moments!.high + 70_000), String(moments!.high + 80_000))
  const all = await ledgerOf('books_2').entries({ posting: 0, line: 0 }, FOREVER, 10_000)
  t.ok(
    all.some(({ at }, index) => index > 0 && at < all[index - 1]!.at),
    'moments fall',
  )
  await assertPeriods(t, 'books_2')
})

t.test('a partner lists the same ids, and cursors go on', async (t) => {
  t.same((await listedIn('books_2')).map(nameOf), before)
  await assertCursors(t, 'books_2', before)
})

t.test('it returns, and has the same ids and others for what is new', async (t) => {
  // A posting in its second shard, and its opposite, so that no balance changes.
  await shards.books_2.exec(`INSERT INTO ledger_entries
      (posting, line, account, tenant, amount, balance, plan, entity, at)
    SELECT last + n, line, account, '${DEMO}', sign * amount, 0, 'deposit', 'dep_new', at + n
    FROM (SELECT max(posting) AS last, max(at) AS at FROM ledger_entries) AS found,
      (VALUES (1, 1), (2, -1)) AS twice (n, sign),
      (VALUES (1, '${DEMO}:USD:prefund', 5), (2, '${DEMO}:USD:funding', -5))
        AS lines (line, account, amount)`)
  const posted = (await listedIn('books_2')).map(nameOf)
  t.equal(posted.length, before.length + 4)
  await move(BACK)
  t.same((await listedIn('books_1')).map(nameOf), posted)
  await assertCursors(t, 'books_1', posted)
  await post('books_1', 20, String(moments!.low), String(moments!.high))
  const names = (await listedIn('books_1')).map(nameOf)
  t.equal(new Set(names).size, names.length)
  await assertPeriods(t, 'books_1')
  const left = await sql.all('SELECT 1 FROM books_2.moved_postings')
  t.same(left, [], 'the shard that it has left knows no segment of it')
})

t.test('moves do not multiply nonces', async (t) => {
  const now = Date.now()
  const noncesIn = (shard: Shard) =>
    shards[shard].all(`SELECT seen_at, encode(fingerprints, 'hex') AS used FROM nonces
      WHERE seen_at > ${now - HOUR} ORDER BY id`)
  const one = { seen_at: now - MINUTE, used: '0000000000000001' }
  const other = { seen_at: now, used: '0000000000000002' }
  const old = { seen_at: now - HOUR / 2, used: '0000000000000003' }
  for (const { seen_at, used } of [old, one, other])
    await shards.books_1.run(
      "INSERT INTO nonces (seen_at, fingerprints) VALUES (?, decode(?, 'hex'))",
      [seen_at, used],
    )
  for (const to of [THERE, BACK, THERE, BACK]) await move(to)
  t.same(await noncesIn('books_2'), [one, other], 'those that can be used again, once')
  t.same(await noncesIn('books_1'), [old, one, other])
})

t.test('a partner that is asked back at once has moved', async (t) => {
  await cluster.requestPartnerMove(THERE, BY)
  await cluster.beginPartnerMove(THERE)
  await cluster.holdForPartnerMove(THERE, HELD)
  await beginTransfer(sql, THERE)
  await transferPartner(sql, THERE)
  t.ok(await cluster.requestPartnerMove(BACK, BY))
  t.equal(await cluster.partnerMoveState(THERE, HELD), 'moved')
  t.notOk(await cluster.giveUpPartnerMove(THERE, 'late'), 'the next move goes on')
  await cluster.giveUpPartnerMove(BACK, 'a test')
  t.ok(await cluster.requestPartnerMove(BACK, BY))
  t.equal(await cluster.partnerMoveState(BACK, HELD), 'given_up', 'the same again is another one')
})
