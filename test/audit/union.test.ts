/**
 * The audit of a cluster's union finds no violation in intact shards, and reports each corruption
 * under its check.
 *
 * The first shard has the small books, the second one partner with one payout; both paid through
 * one rail and one webhook pool.
 */
import { copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writePoolPart, writeRailPart } from '../../src/audit/shard_parts.js'
import { auditUnion, type UnionReport, type UnionSources } from '../../src/audit/union.js'
import { UNION_CHECKS } from '../../src/audit/checks/union.js'
import { unionConclusion } from '../../src/audit/report.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { clockAfter, writeSmallBooks } from './small_books.js'

const small = await writeSmallBooks(t)
const { completed, reversed } = small.payouts
const SECOND = 'po_second'
const SHARDS = ['books_1', 'books_2'] as const

type File = (typeof SHARDS)[number] | 'rail' | 'pool' | 'part of the rail'

const EMPTIED = [
  ...(['intents', 'events', 'beneficiaries', 'fx_quotes', 'discrepancies'] as const),
  ...(['signing_keys', 'webhook_endpoints', 'approval_requests', 'operator_log'] as const),
]
const SECOND_SHARD = `
  ${EMPTIED.map((table) => `DELETE FROM ${table};`).join(' ')}
  DELETE FROM payouts WHERE id <> '${completed}';
  UPDATE payouts SET id = '${SECOND}', tenant = 'acme_sandbox';
  UPDATE partners SET id = 'acme';
  INSERT INTO moved_payments VALUES ('${reversed}', 'demo')`
/** One instruction is older than the cluster. */
const BOTH_SHARDS = `
  UPDATE instructions SET shard = 'books_1' WHERE id <> '${reversed}';
  CREATE TEMP TABLE paid AS SELECT * FROM instructions WHERE id = '${completed}';
  UPDATE paid SET id = '${SECOND}', shard = 'books_2';
  INSERT INTO instructions SELECT * FROM paid`
const SECOND_EVENT = `INSERT INTO events (position, id, tenant, type, sequence, created_at,
  received_at, body) SELECT 1000, 'evt_second', 'acme_sandbox', type, 1, created_at, received_at,
  body FROM events LIMIT 1`

interface Given {
  readonly plant?: Partial<Record<File, string>>
  readonly change?: (sources: UnionSources) => UnionSources
  readonly live?: boolean
}

const INTACT = join(small.folder, 'intact')
await writeIntact(INTACT)

async function writeIntact(folder: string): Promise<void> {
  for (const shard of SHARDS) {
    mkdirSync(join(folder, shard), { recursive: true })
    copyFileSync(join(small.folder, 'processor.db'), join(folder, shard, 'processor.db'))
  }
  for (const file of ['rail.db', 'webhooks.db']) {
    copyFileSync(join(small.folder, file), join(folder, file))
  }
  await execute(join(folder, 'books_2', 'processor.db'), SECOND_SHARD)
  await execute(join(folder, 'rail.db'), BOTH_SHARDS)
  await execute(join(folder, 'webhooks.db'), SECOND_EVENT)
}

async function unionOf(t: Test, { plant = {}, change, live = false }: Given = {}) {
  const folder = t.testdir()
  cpSync(INTACT, folder, { recursive: true })
  const rail = join(folder, 'rail.db')
  const pool = join(folder, 'webhooks.db')
  const booksOf = (shard: string): string => join(folder, shard, 'processor.db')
  await execute(rail, plant.rail)
  await execute(pool, plant.pool)
  for (const shard of SHARDS) {
    const other = SHARDS.find((each) => each !== shard) ?? shard
    await execute(booksOf(shard), plant[shard], booksOf(other))
  }
  for (const shard of SHARDS) {
    await writeRailPart(rail, join(folder, shard), shard)
    await writePoolPart(pool, join(folder, shard))
  }
  const partOf = (shard: string): string => join(folder, shard, 'rail.db')
  await execute(partOf('books_1'), plant['part of the rail'])
  const sources: UnionSources = {
    asOf: clockAfter(small).now(),
    registered: SHARDS.map((shard) => ({ shard, epoch: 1 })),
    placements: [
      { partner: 'demo', shard: 'books_1' },
      { partner: 'acme', shard: 'books_2' },
    ],
    shards: SHARDS.map((shard) => ({ shard, books: booksOf(shard), rail: partOf(shard) })),
    pools: [pool],
    rail,
  }
  const report = await auditUnion(change?.(sources) ?? sources, {
    ...{ scratch: join(folder, 'union.db'), live, stopwatch: () => 0, onCheck: () => undefined },
  })
  return { report, folder }
}

/** @param other is attached as `other` */
async function execute(file: string, sql: string | undefined, other?: string): Promise<void> {
  if (sql === undefined) return
  const database = await openDatabase(file)
  if (other !== undefined) await database.run('ATTACH DATABASE ? AS other', [other])
  await database.exec(`PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; ${sql}`)
  await database.close()
}

t.test('intact shards are clean', async (t) => {
  const { report, folder } = await unionOf(t)
  t.same(report.broken, [])
  t.ok(report.clean)
  t.same(
    report.checks.map(({ name, outcome }) => ({ name, outcome })),
    UNION_CHECKS.map(({ name }) => ({ name, outcome: 'ok' })),
  )
  t.ok(
    report.checks.every(({ rows }) => rows > 0),
    'each check has rows',
  )
  t.match(unionConclusion(report), /^union clean: 9 checks over \d+ rows$/)
  for (const [file, table, own] of [
    ['rail.db', 'instructions', SECOND],
    ['webhooks.db', 'events', 'evt_second'],
  ] as const) {
    const part = await openDatabase(join(folder, 'books_2', file), { readOnly: true })
    t.same(await part.all(`SELECT id FROM ${table}`), [{ id: own }], `its part of ${file}`)
    await part.close()
  }
})

t.test('the payments of a currency can be more than 64 bits', async (t) => {
  const most = '9200000000000000000'
  const amount = `amount = ${most} WHERE currency = 'VND'`
  const paid = `context = json_set(context, '$.recipientAmount', '${most}')
    WHERE id IN ('${completed}', '${SECOND}')`
  const { report } = await unionOf(t, {
    plant: {
      rail: `UPDATE instructions SET ${amount} AND id IN ('${completed}', '${SECOND}')`,
      ...{ books_1: `UPDATE payouts SET ${paid}`, books_2: `UPDATE payouts SET ${paid}` },
    },
  })
  t.same(report.broken, [])
})

t.test('a live audit skips rail and pools', async (t) => {
  const { report } = await unionOf(t, { live: true })
  t.ok(report.clean)
  t.equal(report.checks.filter(({ outcome }) => outcome === 'left out').length, 4)
})

interface Planted extends Given {
  readonly breaks: string
  readonly of: string
}

const copied = (table: string): string => `INSERT INTO ${table} SELECT * FROM other.${table}`
/** An id of the first shard is in the second one too. */
const repeated = (table: string): Planted => ({
  plant: { books_2: `DELETE FROM ${table}; ${copied(table)} ORDER BY id LIMIT 1` },
  ...{ breaks: 'ids_are_in_one_shard', of: '' },
})
/** A payout has left its shard for an archive, and the instruction names no shard. */
const archivedIn = (t: Test) => {
  const path = join(t.testdir(), 'payments.db')
  return {
    path,
    plant: {
      rail: `UPDATE instructions SET shard = NULL ${OF_COMPLETED}`,
      books_1: `ATTACH DATABASE '${path}' AS archive;
        CREATE TABLE archive.intents AS SELECT * FROM main.intents WHERE false;
        CREATE TABLE archive.payouts AS SELECT * FROM main.payouts ${OF_COMPLETED};
        DELETE FROM main.payouts ${OF_COMPLETED};
        INSERT INTO archived_payments VALUES ('${completed}', 'its digest');`,
    },
  }
}

t.test('archived payments are those of their shard', async (t) => {
  const { path, plant } = archivedIn(t)
  await t.test('with the archive', async (t) => {
    const change = (sources: UnionSources): UnionSources => ({
      ...sources,
      archives: new Map([['books_1', path]]),
    })
    t.same((await unionOf(t, { plant, change })).report.broken, [])
  })
  rmSync(path)
  await t.test('without it', async (t) => {
    const { broken } = (await unionOf(t, { plant })).report
    t.same(
      broken.map(({ name }) => name),
      [OF_A_SHARD, ARE_PAYMENTS],
    )
  })
})

const placed = (of: string, places: UnionSources['placements']): Planted => ({
  change: (sources) => ({ ...sources, placements: places }),
  ...{ breaks: 'partners_are_where_placed', of },
})
const plantedIn =
  (file: File) =>
  (breaks: string, of: string, sql: string): Planted => {
    return { plant: { [file]: sql }, breaks, of }
  }
const ofRail = plantedIn('rail')
const ofPart = plantedIn('part of the rail')
const ofSecond = plantedIn('books_2')
const OF_COMPLETED = `WHERE id = '${completed}'`
const AUDITED_ONCE = 'executions_are_audited_once'
const ARE_PAYMENTS = 'executions_are_payments'
const OF_A_SHARD = 'instructions_belong_to_a_shard'

const CORRUPTIONS: Readonly<Record<string, Planted>> = {
  'a served shard has no books': {
    change: (sources) => ({
      ...sources,
      registered: [...sources.registered, { shard: 'books_3', epoch: 4 }],
    }),
    ...{ breaks: 'every_shard_has_books', of: 'books_3' },
  },
  'the books of a shard are older than its last owner': {
    change: (sources) => ({
      ...sources,
      registered: SHARDS.map((shard) => ({ shard, epoch: shard === 'books_2' ? 7 : 1 })),
    }),
    ...{ breaks: 'every_shard_has_books', of: 'books_2' },
  },
  'a partner is in two shards': ofSecond('partners_are_in_one_shard', 'demo', copied('partners')),
  'a partner is placed in another shard': placed('acme', [
    { partner: 'demo', shard: 'books_1' },
    { partner: 'acme', shard: 'books_1' },
  ]),
  'a partner has no place': placed('demo', [{ partner: 'acme', shard: 'books_2' }]),
  'a payout is in two shards': repeated('payouts'),
  'an intent is in two shards': repeated('intents'),
  'a beneficiary is in two shards': repeated('beneficiaries'),
  'an event is in two shards': repeated('events'),
  'a key is in two shards': repeated('signing_keys'),
  'an endpoint is in two shards': repeated('webhook_endpoints'),
  'a quote is in two shards': repeated('fx_quotes'),
  'a discrepancy is in two shards': repeated('discrepancies'),
  'an approval request is in two shards': repeated('approval_requests'),
  'an instruction is of a shard outside of the cluster': ofRail(
    OF_A_SHARD,
    completed,
    `UPDATE instructions SET shard = 'books_9' ${OF_COMPLETED}`,
  ),
  'an instruction without a shard has no payment': ofRail(
    OF_A_SHARD,
    'po_nobody',
    `UPDATE instructions SET shard = NULL, id = 'po_nobody' ${OF_COMPLETED}`,
  ),
  'an execution is in no part of the log': ofPart(
    AUDITED_ONCE,
    'VND',
    `DELETE FROM instructions ${OF_COMPLETED}`,
  ),
  'an execution has another amount in a part of the log': ofPart(
    AUDITED_ONCE,
    'VND',
    `UPDATE instructions SET amount = amount + 1 ${OF_COMPLETED}`,
  ),
  'the rail paid another amount than the shards have': ofRail(
    ARE_PAYMENTS,
    'VND',
    `UPDATE instructions SET amount = amount - 1 ${OF_COMPLETED}`,
  ),
  'a payment of the second shard was never executed': ofRail(
    ARE_PAYMENTS,
    'VND',
    `UPDATE instructions SET executions = 0 WHERE id = '${SECOND}'`,
  ),
  'a failed payment of the second shard was executed': ofSecond(
    ARE_PAYMENTS,
    'VND',
    `UPDATE payouts SET state = 'failed'`,
  ),
  'a payment was executed that no shard has': ofSecond(ARE_PAYMENTS, 'VND', 'DELETE FROM payouts'),
  'a payment that has left a shard is in no other one': {
    plant: { books_1: `INSERT INTO moved_payments VALUES ('pout_lost', 'acme')` },
    ...{ breaks: 'moved_payments_are_elsewhere', of: 'pout_lost' },
  },
  'a pool has an event of an unknown partner': {
    plant: { pool: `UPDATE events SET tenant = 'nobody_sandbox' WHERE id = 'evt_second'` },
    ...{ breaks: 'pool_events_have_a_partner', of: 'evt_second' },
  },
}

for (const [what, { breaks, of, ...given }] of Object.entries(CORRUPTIONS)) {
  t.test(`found: ${what}`, async (t) => {
    const { report } = await unionOf(t, given)
    t.notOk(report.clean)
    const violation = brokenBy(report, breaks)
    t.ok(violation, JSON.stringify(report.broken))
    if (of !== '') t.equal(violation?.entity, of)
    t.match(unionConclusion(report), `union broken: ${breaks}\n`)
  })
}

const brokenBy = ({ broken }: UnionReport, check: string) =>
  broken.find(({ name }) => name === check)

t.test('an instruction of a payment that has moved belongs to its new shard', async (t) => {
  const { report, folder } = await unionOf(t, {
    plant: {
      rail: `UPDATE instructions SET shard = 'books_1' WHERE id = '${SECOND}'`,
      books_1: `INSERT INTO moved_payments VALUES ('${SECOND}', 'acme')`,
    },
  })
  t.same(report.broken, [])
  const part = await openDatabase(join(folder, 'books_2', 'rail.db'), { readOnly: true })
  t.same(await part.all('SELECT id FROM instructions'), [{ id: SECOND }])
  await part.close()
})

t.test('every check has a corruption', async (t) => {
  const found = new Set(Object.values(CORRUPTIONS).map(({ breaks }) => breaks))
  t.same(
    UNION_CHECKS.map(({ name }) => name).filter((name) => !found.has(name)),
    [],
  )
})

t.test('changes after the snapshot are no violation', async (t) => {
  const later = clockAfter(small).now()
  const { report } = await unionOf(t, {
    plant: {
      rail: `CREATE TEMP TABLE late AS SELECT * FROM instructions WHERE id = '${SECOND}';
        UPDATE late SET id = 'po_late', shard = 'books_3', received_at = ${later};
        INSERT INTO instructions SELECT * FROM late`,
      books_2: `UPDATE payouts SET state = 'processing'`,
    },
    change: (sources) => ({
      ...sources,
      registered: [...sources.registered, { shard: 'books_3', epoch: 0 }],
      placements: [...sources.placements, { partner: 'not-created-yet', shard: 'books_3' }],
    }),
  })
  t.same(report.broken, [])
})

t.test('a payment that was paid while the snapshot began is no violation', async (t) => {
  const { report } = await unionOf(t, {
    plant: {
      rail: `UPDATE instructions SET received_at = ${clockAfter(small).now()}
        WHERE id = '${SECOND}'`,
    },
  })
  t.same(report.broken, [])
})
