/** List statements: each reads one index in list order, for every filter. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { TenantId } from '../../src/base/ids.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Statement } from '../../src/store/database.js'
import { createArchiveReads } from '../../src/store/archive.js'
import { createBeneficiaryAges } from '../../src/store/beneficiary_ages.js'
import { SQLITE } from '../../src/store/dialect.js'
import {
  actionsOnSubjects,
  discrepanciesOfEntity,
  entriesOfEntities,
  eventsOfEntity,
} from '../../src/store/entity_history.js'
import {
  beneficiariesStatement,
  discrepanciesStatement,
  entriesStatement,
  eventsStatement,
  eventStatement,
  heldPayoutsStatement,
  intentScanEndStatement,
  intentsStatement,
  movedPostingStatement,
  payoutsStatement,
} from '../../src/store/lists.js'
import { movementsOfStatement, movementsStatement } from '../../src/store/rail_movements.js'
import { instant } from '../../src/base/clock.js'
import {
  eventAgesStatement,
  keyAgesStatement,
  requestsStatement,
} from '../../src/store/retention.js'
import { unsubmittedStatement } from '../../src/store/orphans.js'
import { createSearch } from '../../src/store/search.js'
import { nextStatement, rangeStatement, sumsStatement } from '../../src/store/ledger.js'
import { PROCESSOR_SCHEMA } from '../../src/store/sqlite/store.js'
import { tempFolder } from '../support/temp_folder.js'

const DEMO = 'demo_sandbox' as TenantId
const RANGE = { tenant: DEMO, from: 'pout_1', below: 'pout_2' }

const payouts: readonly (readonly [object, string])[] = [
  [{}, 'of_tenant (tenant=? AND id>? AND id<?)'],
  [{ state: 'failed' }, 'by_state (tenant=? AND state=? AND id>? AND id<?)'],
  [{ reference: 'r' }, 'by_reference (tenant=? AND reference=? AND id>? AND id<?)'],
  [{ beneficiary: 'b' }, 'by_beneficiary (tenant=? AND beneficiary=? AND id>? AND id<?)'],
  [{ state: 'failed', reference: 'r' }, 'by_reference (tenant=? AND reference=?'],
  [{ state: 'failed', beneficiary: 'b' }, 'by_beneficiary (tenant=? AND beneficiary=?'],
  [{ reference: 'r', beneficiary: 'b' }, 'by_reference (tenant=? AND reference=?'],
  [{ state: 'failed', reference: 'r', beneficiary: 'b' }, 'by_reference (tenant=? AND reference=?'],
]
const cases: readonly (readonly [string, Statement, string])[] = [
  ...payouts.map(
    ([filter, index]) =>
      [
        JSON.stringify(filter),
        payoutsStatement({ ...RANGE, ...filter }, 51),
        `payouts USING INDEX payouts_${index}`,
      ] as const,
  ),
  ...[{}, { state: 'failed' }, { corridor: 'vn_vietqr' }].map(
    (filter) =>
      [
        `intents ${JSON.stringify(filter)}`,
        intentsStatement({ ...RANGE, ...filter }, 51),
        'intents USING INDEX intents_of_tenant (tenant=? AND id>? AND id<?)',
      ] as const,
  ),
  [
    'the end of a bounded search',
    intentScanEndStatement(RANGE, 2_000),
    'intents USING COVERING INDEX intents_of_tenant (tenant=? AND id>? AND id<?)',
  ],
  [
    'beneficiaries',
    beneficiariesStatement(DEMO, '~', 51),
    'beneficiaries USING INDEX beneficiaries_of_tenant (tenant=? AND id<?)',
  ],
  [
    'entries',
    entriesStatement(DEMO, { posting: 9, line: 1 }, 51),
    'ledger_entries USING INDEX ledger_entries_of_tenant (tenant=? AND (posting,line)<(?,?))',
  ],
  [
    'events',
    eventsStatement(DEMO, 7, 51),
    'events USING INDEX sqlite_autoindex_events_2 (tenant=? AND sequence>?)',
  ],
  [
    'requests by age',
    requestsStatement(instant(7), 51),
    'request_actions USING PRIMARY KEY (request_id<?)',
  ],
  ['event', eventStatement(DEMO, 'evt_1'), 'events USING INDEX sqlite_autoindex_events_1 (id=?)'],
  [
    'open discrepancies',
    discrepanciesStatement(false, { at: '0', id: '' }, 51),
    'discrepancies USING INDEX discrepancies_open ((at,id)>(?,?))',
  ],
  [
    'resolved discrepancies',
    discrepanciesStatement(true, { at: '0', id: '' }, 51),
    'discrepancies USING INDEX discrepancies_resolved ((at,id)>(?,?))',
  ],
]

/** The steps by which SQLite carries a statement out. */
async function inEmptyBooks(t: Test): Promise<(statement: Statement) => Promise<string[]>> {
  const migrations = PROCESSOR_SCHEMA
  const database = await openDatabase(join(tempFolder(t), 'processor.db'), { migrations })
  t.teardown(() => database.close())
  return async ({ sql, values }) => {
    const plan = await database.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql(SQLITE)}`, values)
    return plan.map(({ detail }) => detail)
  }
}

t.test('every list is one index search without a sort', async (t) => {
  const planOf = await inEmptyBooks(t)
  for (const [name, statement, expected] of cases) {
    const steps = await planOf(statement)
    t.equal(steps.length, 1, `${name}: one step, no sorting`)
    t.match(steps[0], `SEARCH ${expected}`, name)
  }
})

t.test('rail movements are found by index searches', async (t) => {
  const planOf = await inEmptyBooks(t)
  const planText = async (statement: Statement) => (await planOf(statement)).join('\n')
  const period = await planText(movementsStatement({ at: 1, posting: 2 }, 9, 51))
  t.match(period, 'SEARCH e USING INDEX ledger_entries_of_rail ((at,posting)>(?,?) AND at<?)')
  t.notMatch(period, /SCAN|TEMP B-TREE/)
  for (const [statement, search] of [
    [
      rangeStatement({ posting: 1, line: 2 }, 9, 51),
      'PRIMARY KEY ((posting,line)>(?,?) AND posting<?)',
    ],
    [
      rangeStatement({ posting: 1, line: 2 }, 9, 51, DEMO),
      'INDEX ledger_entries_of_tenant (tenant=? AND (posting,line)>(?,?) AND posting<?)',
    ],
    [
      movedPostingStatement(DEMO, 7),
      'COVERING INDEX ledger_entries_posted_as (tenant=? AND posted_as=?)',
    ],
    [nextStatement(1), 'PRIMARY KEY (posting>?)'],
    [nextStatement(1, DEMO), 'INDEX ledger_entries_of_tenant (tenant=? AND posting>?)'],
  ] as const) {
    const plan = await planText(statement)
    t.match(plan, `SEARCH ledger_entries USING ${search}`)
    t.notMatch(plan, /SCAN|TEMP B-TREE/)
  }
  t.match(await planText(sumsStatement(1, 9)), 'PRIMARY KEY (posting>? AND posting<?)')
  t.match(
    await planText(sumsStatement(1, 9, DEMO)),
    'ledger_entries_of_tenant (tenant=? AND posting>? AND posting<?)',
  )
  const named = await planText(movementsOfStatement(['pout_1']))
  t.match(named, 'SEARCH e USING INDEX ledger_entries_of_entity (entity=?)')
  t.match(named, 'discrepancies_of_entity (entity=?)')
  t.notMatch(named, /SCAN (?:e|d)\b/)
})

t.test('rows past their retention are found by index searches', async (t) => {
  const planOf = await inEmptyBooks(t)
  for (const [statement, first] of [
    [
      eventAgesStatement(DEMO, 7, 51),
      'SEARCH events USING INDEX sqlite_autoindex_events_2 (tenant=? AND sequence>?)',
    ],
    [
      keyAgesStatement(7, 99, 51),
      'SEARCH idempotency USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
    ],
  ] as const) {
    const steps = await planOf(statement)
    t.equal(steps[0], first)
    t.same(
      steps.filter((step) => /SCAN|TEMP/.test(step)),
      [],
    )
  }
})

t.test('no look-up of find and no page of an archive reads a table whole', async (t) => {
  const planOf = await inEmptyBooks(t)
  const statements: Statement[] = []
  const read = (statement: Statement): Promise<never[]> => {
    statements.push(statement)
    return Promise.resolve([])
  }
  const search = createSearch(read)
  const period = { from: instant(1), to: instant(2) }
  await search.actor('intents', 'pi_1')
  await search.beneficiary('ben_1')
  await search.entry('dep_1')
  await search.eventById('evt_1')
  await search.eventsOf('pi_1')
  await search.payoutsByReference([DEMO], 'r')
  await search.keys([1], [1n])
  await search.fxQuote('fxq_1')
  await search.ofRequest('req_1', period)
  await search.intentsOfRequest('req_1', period)
  const archive = createArchiveReads(read)
  await archive.payments('intents', '', instant(1), 100)
  await archive.payments('payouts', 'pout_', instant(1), 100)
  await archive.archiveOf('pi_1')
  const ages = createBeneficiaryAges(read)
  await ages.beneficiaries('', instant(1), 100)
  await ages.payouts({ id: 'ben_1', tenant: DEMO }, '', 50)
  t.equal(statements.length, 18)
  for (const statement of statements) {
    for (const step of await planOf(statement)) {
      t.notMatch(step, /SCAN (?!json_each|a\b|r\b)/, statement.sql(SQLITE))
    }
  }
})

t.test('payments to review or to compare are merged from index searches', async (t) => {
  const planOf = await inEmptyBooks(t)
  const both = ['payouts USING INDEX payouts_held (id>?)', 'payouts USING INDEX payouts_under_way']
  for (const [statement, expected] of [
    [heldPayoutsStatement('', 51), both],
    [unsubmittedStatement('payouts', '', 51), both],
    [unsubmittedStatement('intents', '', 51), ['intents USING INDEX intents_under_way (id>?)']],
  ] as const) {
    const steps = (await planOf(statement)).join('\n')
    for (const search of expected) t.match(steps, `SEARCH ${search}`)
    t.notMatch(steps, /SCAN|TEMP B-TREE/)
  }
})

t.test('no part of an entity history scans its table', async (t) => {
  const planOf = await inEmptyBooks(t)
  const ids = ['pout_1', 'dis_1']
  for (const [statement, expected] of [
    [
      eventsOfEntity('pout_1'),
      'events USING INDEX sqlite_autoindex_events_3 (entity>? AND entity<?)',
    ],
    [
      discrepanciesOfEntity('pout_1'),
      'discrepancies USING INDEX discrepancies_of_entity (entity=?)',
    ],
    [entriesOfEntities(ids), 'ledger_entries USING INDEX ledger_entries_of_entity (entity=?)'],
    [actionsOnSubjects(ids), 'operator_log USING INDEX operator_log_of_subject (subject=?)'],
  ] as const) {
    const steps = await planOf(statement)
    t.equal(steps[0], `SEARCH ${expected}`)
    t.notMatch(steps.join('\n'), /SCAN (?!json_each)/)
  }
})
