/** Plans of PostgreSQL: lists read one index in their order; commits never read a table whole. */
import t, { type Test } from 'tap'
import { COMMIT_FUNCTION as POOL_FUNCTION } from '../../actors/webhook/store/postgres/commit.js'
import { POOL } from '../../actors/webhook/store/postgres/store.js'
import { instant, systemPause } from '../../src/base/clock.js'
import { AFTER_ALL_IDS, type TenantId } from '../../src/base/ids.js'
import type { Reader, Statement } from '../../src/store/database.js'
import { POSTGRES } from '../../src/store/dialect.js'
import { entriesOfEntities, eventsOfEntity } from '../../src/store/entity_history.js'
import { nextStatement, rangeStatement } from '../../src/store/ledger.js'
import {
  beneficiariesStatement,
  createLists,
  entriesStatement,
  eventsStatement,
  heldPayoutsStatement,
  intentScanEndStatement,
  intentsStatement,
  movedPostingStatement,
  payoutsStatement,
} from '../../src/store/lists.js'
import { movementsStatement } from '../../src/store/rail_movements.js'
import { eventAgesStatement } from '../../src/store/retention.js'
import { unsubmittedStatement } from '../../src/store/orphans.js'
import { textArray } from '../../src/store/postgres/arrays.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import type { OwnedSchemaDefinition } from '../../src/store/postgres/migrate.js'
import { openOwnedSchema, type OwnedSchema } from '../../src/store/postgres/owned_schema.js'
import { commitValues } from '../../src/store/postgres/commit.js'
import { BOOKS } from '../../src/store/postgres/store.js'
import { usageStatement } from '../../src/store/usage.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { requirePostgres, startPostgres } from '../support/postgres_server.js'
import { batchOf } from './commit_rows.js'

requirePostgres(t)

const server = await startPostgres(t, { autovacuum: 'off' })
const DEMO = 'demo_sandbox' as TenantId
const ROWS = 20_000

async function opened(t: Test, shard: string, definition: OwnedSchemaDefinition) {
  const schema = await openOwnedSchema(
    {
      ...{ url: server.url, shard, holder: 'one', log },
      elapsed: () => performance.now(),
      pause: systemPause,
    },
    definition,
    { lists: 'by cost' },
  )
  t.teardown(() => schema.close())
  return schema
}
type Schema = OwnedSchema<'lists'>

/** By a connection of its own, as the owner's heartbeats would wait; what it reads is counted. */
async function fill(shard: string, rows: string): Promise<void> {
  const connection = await connectToPrimary(parseStoreUrl(server.url), shard, 'test')
  await connection.exec(`${rows}; SELECT pg_stat_force_next_flush()`)
  await connection.close()
}
type Lists = ReturnType<typeof createLists>

const id = (kind: string, row: string): string => `'${kind}_' || lpad((${row})::text, 9, '0')`

/** One tenant has nearly all rows, as is usual. One payment in a hundred failed. */
const FILL = `
  INSERT INTO payouts (id, tenant, state, due_at, reference, beneficiary, context)
    SELECT ${id('pout', 'n')}, CASE n % 20 WHEN 0 THEN 'other_sandbox' ELSE '${DEMO}' END,
      CASE n % 100 WHEN 7 THEN 'failed' ELSE 'completed' END, NULL, 'r' || n % 400, 'b' || n % 200,
      '{}' FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO intents (id, tenant, state, due_at, confirmed_at, context)
    SELECT ${id('pi', 'n')}, CASE n % 20 WHEN 0 THEN 'other_sandbox' ELSE '${DEMO}' END,
      CASE n % 100 WHEN 7 THEN 'failed' ELSE 'captured' END, NULL, NULL,
      '{"corridor":"th_promptpay"}' FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO beneficiaries
      (id, tenant, type, name, destination_country, currency, bank_code, account_last4,
       sealed_account, status, created_at)
    SELECT ${id('ben', 'n')}, CASE n % 20 WHEN 0 THEN 'other_sandbox' ELSE '${DEMO}' END,
      'bank_account', 'n', 'VN', 'VND', '1', '1', '', 'active', n
      FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO events
      (position, id, tenant, sequence, type, entity, created_at, body, request_id, cause)
    SELECT n, ${id('evt', 'n')}, '${DEMO}', n, 'type' || n % 3, ${id('pout', 'n / 3')}, n, '{}',
      NULL, NULL FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO ledger_entries
      (posting, line, account, tenant, amount, balance, plan, entity, at)
    SELECT n / 3, n % 3, '${DEMO}:USD:' || CASE n % 3 WHEN 0 THEN 'rail_clearing' ELSE 'fees' END,
      '${DEMO}', 1, 1, 'plan', ${id('pout', 'n / 3')}, n FROM generate_series(3, ${ROWS}) AS n;
  INSERT INTO recoveries (number, cause, entered_at) VALUES (1, 'a test', 1);
  INSERT INTO orphan_executions
      (instruction, recovery, amount, currency, transaction_id, executed_at, status, matched_to,
       resolved_at)
    SELECT 'lost_' || n, 1, 1, 'THB', 't' || n, n, 'matched', ${id('pout', 'n')}, n
      FROM generate_series(1, ${ROWS / 10}) AS n;
  ANALYZE`

const RANGE = { tenant: DEMO, from: 'pout_000000001', below: 'pout_999999999' }
const INTENTS = { ...RANGE, from: 'pi_000000001', below: 'pi_999999999' }
const LISTS: readonly (readonly [Statement, string])[] = [
  [payoutsStatement(RANGE, 51), 'payouts_of_tenant'],
  [payoutsStatement({ ...RANGE, state: 'failed' }, 51), 'payouts_by_state'],
  [payoutsStatement({ ...RANGE, reference: 'r7' }, 51), 'payouts_by_reference'],
  [payoutsStatement({ ...RANGE, beneficiary: 'b7' }, 51), 'payouts_by_beneficiary'],
  [intentsStatement(INTENTS, 51), 'intents_of_tenant'],
  [intentScanEndStatement(INTENTS, 2_000), 'intents_of_tenant'],
  [beneficiariesStatement(DEMO, '~', 51), 'beneficiaries_of_tenant'],
  [entriesStatement(DEMO, { posting: 9_000, line: 1 }, 51), 'ledger_entries_of_tenant'],
  [eventsStatement(DEMO, 7, 51), 'events_tenant_sequence_key'],
  [eventAgesStatement(DEMO, 7, 51), 'events_tenant_sequence_key'],
  [movementsStatement({ at: 1, posting: 2 }, 9_000, 51), 'ledger_entries_of_rail'],
  [movedPostingStatement(DEMO, 7), 'ledger_entries_posted_as'],
  [nextStatement(3_000), 'ledger_entries_pkey'],
  [nextStatement(3_000, DEMO), 'ledger_entries_of_tenant'],
  [rangeStatement({ posting: 3_000, line: 1 }, 6_000, 51, DEMO), 'ledger_entries_of_tenant'],
  [rangeStatement({ posting: 3_000, line: 1 }, 6_000, 51), 'ledger_entries_pkey'],
]
/** Few rows of each index, so the server may sort them. */
const MERGED: readonly (readonly [Statement, readonly string[]])[] = [
  [heldPayoutsStatement('', 51), ['payouts_held', 'payouts_under_way']],
  [unsubmittedStatement('payouts', '', 51), ['payouts_held', 'payouts_under_way']],
  [unsubmittedStatement('intents', '', 51), ['intents_under_way']],
  [usageStatement('payouts', RANGE, 2_000), ['payouts_of_tenant']],
  [usageStatement('intents', INTENTS, 2_000), ['intents_of_tenant']],
]
const HISTORY: readonly (readonly [Statement, string])[] = [
  [eventsOfEntity('pout_000000007'), 'events_entity_type_key'],
  [entriesOfEntities(['pout_000000007']), 'ledger_entries_of_entity'],
]

t.test('every list reads one index in list order, however often it is read', async (t) => {
  const { readers } = await opened(t, 'books_1', BOOKS)
  await fill('books_1', FILL)
  const planOf = async ({ sql, values }: Statement): Promise<string> => {
    const text = sql(POSTGRES)
    // The server may plan for all values once it has planned five times for given ones.
    for (let times = 0; times < 6; times += 1) await readers.lists.all(text, values)
    const rows = await readers.lists.all<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  for (const [statement, index] of LISTS) {
    const plan = await planOf(statement)
    t.match(plan, new RegExp(`(using|on) ${index}\\b`), index)
    t.notMatch(plan, /Sort|Seq Scan on (?!discrepancies|event_outcomes)/) // which are none
  }
  for (const [statement, index] of HISTORY) t.match(await planOf(statement), index)
  for (const [statement, indexes] of MERGED) {
    const plan = await planOf(statement)
    for (const index of indexes) t.match(plan, index)
    t.notMatch(plan, 'Seq Scan')
  }
})

/** What the console's pages and `find` read besides the lists above. */
const PAGE_READS: Readonly<Record<string, (lists: Lists) => Promise<unknown>>> = {
  payment: ({ search, entityHistory }) =>
    Promise.all([
      search.actor('intents', 'pi_000000007'),
      search.actor('payouts', 'pout_000000007'),
      entityHistory('payouts', 'pout_000000007'),
      entityHistory('intents', 'pi_000000007'),
    ]),
  ids: ({ search }) =>
    Promise.all([
      search.eventById('evt_000000007'),
      search.eventsOf('pout_000000007'),
      search.entry('pout_000000007'),
      search.beneficiary('ben_000000007'),
      search.fxQuote('fxq_7'),
      search.payoutsByReference([DEMO, 'other_sandbox'], 'r7'),
      search.keys([7, 8], [9n]),
    ]),
  request: ({ search }) =>
    Promise.all([
      search.ofRequest('req_1', { from: instant(1), to: instant(1_000) }),
      search.intentsOfRequest('req_1', { from: instant(1), to: instant(1_000) }),
      search.actionsOf('req_1'),
    ]),
  archive: ({ archive }) =>
    Promise.all([
      archive.payments('intents', '', instant(9_000), 100),
      archive.payments('payouts', 'pout_', instant(9_000), 100),
      archive.archiveOf('pout_000000007'),
    ]),
  'beneficiaries by age': ({ beneficiaryAges: ages }) =>
    Promise.all([
      ages.beneficiaries('', instant(9_000), 100),
      ages.payouts({ id: 'ben_000000007', tenant: DEMO }, '', 50),
    ]),
  'unknown outcomes': (lists) =>
    Promise.all(
      (['intents', 'payouts', 'recalls'] as const).map((kind) =>
        lists.unknownOutcomes(kind, instant(9_000), '', 51),
      ),
    ),
  overview: (lists) => lists.openWork(instant(9_000), [0, 60_000]),
  review: (lists) =>
    Promise.all([
      lists.heldPayouts('', 51),
      lists.heldIntents('', 51),
      lists.orphans(false, { at: '0', instruction: '' }, 51),
      lists.discrepancies(false, { at: '0', id: '' }, 51),
    ]),
  usage: (lists) => lists.usage('payouts', { tenant: DEMO, from: '', below: AFTER_ALL_IDS }, 2_000),
}
/** Rows that the lists above do not need. */
const FILL_REST = `
  INSERT INTO outbox SELECT position FROM events;
  INSERT INTO event_outcomes SELECT n, n FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO idempotency (sequence, key, request_hash, entity)
    SELECT n, 'k' || n, 'h', ${id('pout', 'n')} FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO idempotency_index (fingerprint, sequence)
    SELECT n, n FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO request_actions (request_id, action, entity, tenant, at)
    SELECT 'req_' || n, 'disable_beneficiary', ${id('ben', 'n')}, '${DEMO}', n
      FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO fx_quotes (id, tenant, sold_currency, sold, bought_currency, bought, expires_at)
    SELECT ${id('fxq', 'n')}, '${DEMO}', 'USD', 1, 'VND', 1, n
      FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO archived_payments (id, digest)
    SELECT 'pout_' || n, 'd' FROM generate_series(1, ${ROWS}) AS n;
  ANALYZE`
/** Operators cause these, not payments: some hundred rows. */
const SMALL =
  'operator_log|orphan_executions|discrepancies|recoveries|archives|idempotency_ages|' +
  'idempotency_retention'

t.test('a page reads no table of payments whole', async (t) => {
  const { readers } = await opened(t, 'books_3', BOOKS)
  await fill('books_3', `${FILL};${FILL_REST}`)
  for (const [page, read] of Object.entries(PAGE_READS)) {
    const plans: string[] = []
    const reader: Reader = {
      dialect: readers.lists.dialect,
      all: async <Row>(sql: string, values: Parameters<Reader['all']>[1]) => {
        type Line = { readonly 'QUERY PLAN': string }
        const rows = await readers.lists.all<Line>(`EXPLAIN ${sql}`, values)
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
        return readers.lists.all<Row>(sql, values)
      },
    }
    await read(createLists(reader))
    t.ok(plans.length > 0, page)
    for (const plan of plans) t.notMatch(plan, new RegExp(`Seq Scan on (?!(?:${SMALL})\\b)`), page)
  }
})

/** Rows that were read without an index, of these tables. */
async function readWhole({ writer, readers }: Schema, ...tables: string[]): Promise<number> {
  await writer.all('SELECT pg_stat_force_next_flush()')
  const [row] = await readers.lists.all<{ rows: number }>(
    `SELECT CAST(sum(seq_tup_read) AS BIGINT) AS rows FROM pg_stat_user_tables
     WHERE schemaname = current_schema() AND relname IN (SELECT json_array_elements_text(?::json))`,
    [JSON.stringify(tables)],
  )
  return row?.rows ?? 0
}

t.test('a commit reads no table whole, though its plan is from an empty schema', async (t) => {
  const books = await opened(t, 'books_2', BOOKS)
  const settle = (event: string) =>
    books.commit((epoch, number) =>
      commitValues({ ...batchOf({}), settledEvents: [event] }, epoch, number),
    )
  await settle('evt_000000001')
  await fill('books_2', `${FILL}; INSERT INTO outbox SELECT position FROM events`)
  const before = await readWhole(books, 'events', 'outbox')
  for (let event = 11; event < 31; event += 1) await settle(`evt_0000000${event}`)
  t.equal((await readWhole(books, 'events', 'outbox')) - before, 0)
  t.equal((await books.writer.all('SELECT 1 FROM event_outcomes')).length, 20)
})

t.test('a commit of a webhook pool reads no table whole', async (t) => {
  const pool = await opened(t, 'pool_1', POOL)
  const dueAt = 1
  const change = (n: number) => {
    const [event, delivery] = [`evt_${n}`, `del_${n}`]
    const row = { id: delivery, event_id: event, endpoint_id: 'we_1', context: '{}' }
    const delivered = { ...row, state: 'delivered', due_at: null }
    const rows = { events: [], deliveries: [delivered], attempts: [] }
    const values = [textArray([event]), null, textArray([event]), null, null, null]
    return pool.commit((epoch, number) => POOL_FUNCTION.values(epoch, number, rows, values))
  }
  const deliver = (from: number, to: number): Promise<void> =>
    fill(
      'pool_1',
      `INSERT INTO events (id, tenant, type, sequence, created_at, received_at, open, body)
        SELECT 'evt_' || n, '${DEMO}', 'type', n, n, n, 1, '{}'
        FROM generate_series(${from}, ${to}) n;
      INSERT INTO deliveries (id, event_id, endpoint_id, state, due_at, context)
        SELECT 'del_' || n, 'evt_' || n, 'we_1', 'pending', ${dueAt}, '{}'
        FROM generate_series(${from}, ${to}) n`,
    )
  await deliver(1, 1)
  await change(1)
  await deliver(2, ROWS)
  const before = await readWhole(pool, 'events', 'deliveries')
  for (let n = 100; n < 120; n += 1) await change(n)
  t.equal((await readWhole(pool, 'events', 'deliveries')) - before, 0)
  const settled = await pool.writer.all('SELECT 1 FROM events WHERE open = 0 AND reported = 1')
  t.equal(settled.length, 21)
})
