/**
 * The audit finds nothing in books that were kept well, and each kind of damage under its own name.
 *
 * Every corruption (corruptions.ts) is planted in a copy of the same small books.
 */
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { audit, type Verdict } from '../../src/audit/audit.js'
import { openBooks } from '../../src/audit/books.js'
import { CHECKLIST } from '../../src/audit/checklist.js'
import { conclusion } from '../../src/audit/report.js'
import { reservedIsUnderWay } from '../../src/audit/checks/amounts.js'
import { filesAreWhole } from '../../src/audit/checks/files.js'
import { limitsAtOnce } from '../../src/audit/checks/limits.js'
import { railReturnsAreRefunded, railLogIsThere } from '../../src/audit/checks/rail.js'
import { projectRoot } from '../../src/base/protos.js'
import { plant } from './corruption.js'
import { corruptionsOf } from './corruptions.js'
import { BOTH_HAVE, ofTwoPools, waitsIn } from './corruptions/two_pools.js'
import { afterwards, copyBooks, copySharedBooks, writeSmallBooks } from './small_books.js'

const small = await writeSmallBooks(t)
const { payouts } = small
const clock = afterwards(small)
const LINKS = 'users_find_their_intents'
const QUIETLY = { live: false, stopwatch: () => 0, tell: () => undefined }
const CORRUPTIONS = corruptionsOf(small)

async function auditOf(folder: string, page?: number): Promise<Verdict> {
  const books = await openBooks(folder, clock, page === undefined ? {} : { page })
  const verdict = await audit(books, QUIETLY)
  await books.close()
  return verdict
}

void t.test('books that were kept well are clean, while the processor has them open', async (t) => {
  for (const page of [4_000, 1, 2, 7]) {
    const verdict = await auditOf(small.folder, page)
    t.equal(verdict.broken, null)
    t.ok(verdict.clean)
    t.same(verdict.notAudited, [])
    t.same(
      verdict.checks.map(({ name, outcome }) => ({ name, outcome })),
      CHECKLIST.map(({ name }) => ({ name, outcome: 'ok' })),
      `all checks, ${page} rows a page`,
    )
  }
})

for (const { what, file = 'processor.db', sql, breaks, of } of CORRUPTIONS) {
  void t.test(`found: ${what}`, async (t) => {
    const folder = t.testdir()
    copyBooks(small, folder)
    await plant(folder, file, sql)
    const { clean, broken, checks } = await auditOf(folder, 3)
    t.notOk(clean)
    t.equal(broken?.name, breaks, `${broken?.found} instead of ${broken?.expected}`)
    if (of !== undefined) t.equal(broken?.entity, of)
    const found = checks.filter(({ outcome }) => outcome === 'broken')
    t.same(found, [{ name: breaks, outcome: 'broken', rows: found[0]?.rows, ms: 0 }])
  })
}

void t.test('a corrupt row is named, and hides nothing else', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const { captured, failed } = small.intents
  const cut = (table: string, id: string): string =>
    `UPDATE ${table} SET context = substr(context, 1, 99) WHERE id = '${id}';`
  await plant(
    folder,
    'processor.db',
    cut('intents', captured) + cut('intents', failed) + cut('payouts', payouts.completed),
  )
  const verdict = await auditOf(folder)
  t.notOk(verdict.clean)
  t.same([...verdict.corrupt].sort(), [captured, failed, payouts.completed].sort())
  t.equal(verdict.broken?.name, 'texts_are_json')
  t.same(
    verdict.checks.filter(({ outcome }) => outcome !== 'ok').map(({ name }) => name),
    ['texts_are_json', 'reserved_is_under_way', 'limits_count_confirmations', LINKS],
    'all others are carried out',
  )
  await plant(
    folder,
    'processor.db',
    `UPDATE payouts SET state = 'failed' WHERE id = '${payouts.reversed}'`,
  )
  const both = await auditOf(folder)
  t.equal(both.broken?.entity, payouts.reversed, 'and find what is broken besides')
  t.match(conclusion(both), `corrupt: ${captured}`)
})

void t.test('two pools: what one has done with may be lost or open in the other', async (t) => {
  for (const file of ['webhooks.db', 'webhooks-2.db'] as const) {
    const folder = t.testdir()
    await copySharedBooks(small, folder)
    for (const sql of ['', waitsIn(small), `DELETE FROM events WHERE position = ${BOTH_HAVE}`]) {
      await plant(folder, file, sql)
      const { broken, notAudited, checks } = await auditOf(folder, 3)
      t.equal(broken, null, file)
      t.same(notAudited, [])
      t.ok(checks.every(({ outcome }) => outcome === 'ok'))
    }
  }
})

for (const { what, files, sql, breaks } of ofTwoPools(small)) {
  void t.test(`found: ${what}`, async (t) => {
    const folder = t.testdir()
    await copySharedBooks(small, folder)
    for (const file of files) await plant(folder, file, sql)
    const { broken } = await auditOf(folder, 3)
    t.equal(broken?.name, breaks, `${broken?.found} instead of ${broken?.expected}`)
    t.ok(broken?.timeline.some(({ source }) => source === 'event'))
  })
}

void t.test('every check is shown to find something', (t) => {
  const shown = new Set(CORRUPTIONS.map(({ breaks }) => breaks))
  // These have tests of their own, below.
  for (const { name } of [filesAreWhole, railLogIsThere, reservedIsUnderWay]) shown.add(name)
  t.same(
    CHECKLIST.map(({ name }) => name).filter((name) => !shown.has(name)),
    [],
  )
  t.equal(new Set(CHECKLIST.map(({ name }) => name)).size, CHECKLIST.length, 'names differ')
  t.end()
})

void t.test('the timeline of what is broken, in the order of time', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  await plant(
    folder,
    'rail.db',
    `UPDATE instructions SET state = 'executed'
    WHERE id = '${payouts.reversed}'`,
  )
  const { broken } = await auditOf(folder)
  t.equal(broken?.entity, payouts.reversed)
  const timeline = broken?.timeline ?? []
  const times = timeline.map(({ at }) => at)
  t.same(
    times,
    [...times].sort((one, other) => one - other),
  )
  t.same([...new Set(timeline.map(({ source }) => source))].sort(), [
    'delivery',
    'event',
    'ledger',
    'payout',
    'rail',
  ])
  const moments = timeline.filter(({ source }) => source === 'payout').map(({ what }) => what)
  t.match(moments.join(), /createdAt.*processingAt.*completedAt.*reversedAt/)
  t.notMatch(JSON.stringify(timeline), '0123450000', 'no account number')
})

void t.test('what a person knows of is no fault', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  await plant(
    folder,
    'rail.db',
    `UPDATE instructions SET state = 'executed', executions = 1,
    transaction_id = 'sbx_1' WHERE id = '${payouts.failed}'`,
  )
  t.equal((await auditOf(folder)).broken?.name, 'never_paid')
  await plant(
    folder,
    'processor.db',
    `INSERT INTO discrepancies (id, entity, reason, report, at)
      VALUES ('dis_1', '${payouts.failed}', 'executed_after_end', '{}', 1795233600000)`,
  )
  t.ok((await auditOf(folder)).clean, 'an open discrepancy')
  await plant(
    folder,
    'processor.db',
    `UPDATE discrepancies SET settlement = 'keep',
        resolved_at = 1795233600009 WHERE id = 'dis_1';
    INSERT INTO operator_log (at, actor, reason, action, subject, evidence)
      VALUES (1795233600009, 'anna', 'paid back', 'resolve', 'dis_1', 'receipt 4')`,
  )
  t.ok((await auditOf(folder)).clean, 'one that was resolved by name')
})

void t.test('an account number that its partner wrote elsewhere is no fault', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const own = `'$.metadata.account', '0123456789', '$.description', '0123456789'`
  await plant(
    folder,
    'processor.db',
    `UPDATE payouts SET context = json_set(context, ${own}) WHERE id = '${payouts.completed}'`,
  )
  t.equal((await auditOf(folder)).broken, null)
})

void t.test('counters compared one at a time', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const findIn = async (): Promise<unknown> => {
    const books = await openBooks(folder, clock, { page: 2 })
    const { broken } = await limitsAtOnce(1).run(books)
    await books.close()
    return broken
  }
  t.equal(await findIn(), null)
  const lost = '["demo_sandbox","maria+unknown","th_promptpay"] 2026-11'
  await plant(folder, 'processor.db', `DELETE FROM limit_usage WHERE key = '${lost}'`)
  t.match(await findIn(), { entity: lost, found: 'no counter' })
})

void t.test('what is reserved, by itself', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const held = "state IN ('created', 'processing')"
  await plant(folder, 'processor.db', `UPDATE payouts SET state = 'failed' WHERE ${held}`)
  const books = await openBooks(folder, clock)
  const { broken } = await reservedIsUnderWay.run(books)
  t.ok(CHECKLIST.includes(reservedIsUnderWay))
  t.match(broken, { entity: 'demo_sandbox:VND:reserved', found: '37599900', expected: '0' })
  await books.close()
})

void t.test('what happens during the audit is not held against anybody', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  await plant(
    folder,
    'rail.db',
    `UPDATE instructions SET state = 'returned'
    WHERE id = '${payouts.completed}'`,
  )
  const books = await openBooks(folder, clock)
  t.equal((await railReturnsAreRefunded.run(books)).broken?.entity, payouts.completed)
  await plant(
    folder,
    'processor.db',
    `UPDATE payouts SET state = 'reversed'
    WHERE id = '${payouts.completed}'`,
  )
  t.equal((await railReturnsAreRefunded.run(books)).broken, null, 'the processor has it by now')
  await books.close()

  await plant(
    folder,
    'rail.db',
    `INSERT INTO instructions (id, purpose, amount, currency, account, content, received_at, state,
      refusal, transaction_id, executions, due_at, due_step, report_id, executed_at, returned_at)
    SELECT 'pout_00000000000000000000000000', purpose, amount, currency, account, content,
    ${clock.now()}, state, refusal, transaction_id, executions, due_at, due_step, report_id,
    executed_at, returned_at
    FROM instructions WHERE id = '${payouts.processing}'`,
  )
  await plant(
    folder,
    'rail.db',
    `UPDATE instructions SET state = 'executed'
    WHERE id = '${payouts.completed}'`,
  )
  await plant(
    folder,
    'processor.db',
    `UPDATE payouts SET state = 'completed'
    WHERE id = '${payouts.completed}'`,
  )
  t.ok((await auditOf(folder)).clean, 'an instruction that came after the snapshot')
})

void t.test('a delivery that was redriven or came late is no fault', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const pending = (context: string): string => `
    UPDATE deliveries SET state = 'pending', due_at = ${clock.now()},
      context = json_set(context, '$.dueAt', ${clock.now()}, ${context})
      WHERE state = 'dead';
    UPDATE events SET open = 1 WHERE id = (SELECT event_id FROM deliveries WHERE state = 'pending')`
  await plant(folder, 'webhooks.db', pending(`'$.tries', 1, '$.attempts', 0`))
  t.equal((await auditOf(folder)).broken, null)
})

void t.test('a database that is not there', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  rmSync(join(folder, 'webhooks.db'))
  const verdict = await auditOf(folder)
  t.ok(verdict.clean)
  t.same(verdict.notAudited, ['webhooks'])
  t.ok(verdict.checks.some(({ outcome }) => outcome === 'left out'))
  rmSync(join(folder, 'rail.db'))
  t.equal((await auditOf(folder)).broken?.name, 'rail_log_is_there')
  rmSync(join(folder, 'processor.db'))
  await t.rejects(auditOf(folder), { name: 'NoBooks' })
})

void t.test('a damaged page', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const file = openSync(join(folder, 'processor.db'), 'r+')
  writeSync(file, Buffer.alloc(4_096, 0xff), 0, 4_096, 4 * 4_096)
  closeSync(file)
  t.equal((await auditOf(folder)).broken?.name, 'files_are_whole')
})

void t.test('the auditor takes no rule from the programs it audits', (t: Test) => {
  const folder = join(projectRoot(), 'src/audit')
  const allowed = /^(node:.*|\.\/.*|\.\.\/(base|store)\/(clock|settings|subjects|database)\.js)$/
  const fromChecks = /^\.\.\/(books|check)\.js$|^\.\.\/\.\.\/base\/clock\.js$/
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const text = readFileSync(join(folder, name), 'utf8')
    const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from ?? '')
    const rule = name.startsWith('checks')
      ? new RegExp(`${allowed.source}|${fromChecks.source}`)
      : allowed
    t.same(
      imports.filter((from) => !rule.test(from)),
      [],
      name,
    )
  }
  t.end()
})
