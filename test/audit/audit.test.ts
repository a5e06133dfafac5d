/**
 * The audit finds no violation in intact books, and reports each corruption under its check.
 *
 * Every corruption (corruptions.ts) is applied to a copy of the same small books.
 */
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { audit, type AuditReport } from '../../src/audit/audit.js'
import { openBooks, type Books } from '../../src/audit/books.js'
import { CHECKLIST } from '../../src/audit/checklist.js'
import { conclusion } from '../../src/audit/report.js'
import { reservedMatchesOpenPayments } from '../../src/audit/checks/amounts.js'
import { settledEventsAreFinal } from '../../src/audit/checks/deliveries.js'
import { filesAreIntact } from '../../src/audit/checks/files.js'
import { limitsAtOnce } from '../../src/audit/checks/limits.js'
import { railReturnsAreRefunded, railLogExists } from '../../src/audit/checks/rail.js'
import { projectRoot } from '../../src/base/project_root.js'
import { isOnPostgres, sqliteOnly } from '../support/books.js'
import { plant } from './corruption.js'
import { corruptionsOf } from './corruptions.js'
import { BOTH_HAVE, ofTwoPools, waitsIn } from './corruptions/two_pools.js'
import { createExporter } from './exported_books.js'
import {
  clockAfter,
  copyBooks,
  copySharedBooks,
  writeSmallBooks,
  type BookFile,
} from './small_books.js'

const small = await writeSmallBooks(t)
const { payouts } = small
const clock = clockAfter(small)
const LINKS = 'user_intents_are_linked'
const OPTIONS = { live: false, stopwatch: () => 0, onCheck: () => undefined }
const CORRUPTIONS = corruptionsOf(small)

/** A copy of the books: statements against each database, and its audit. */
function copyOf(t: Test) {
  const folder = t.testdir()
  const inFile = (file: BookFile) => (sql: string) => plant(folder, file, sql)
  return {
    folder,
    inFile,
    inBooks: inFile('processor.db'),
    inRail: inFile('rail.db'),
    inPool: inFile('webhooks.db'),
    open: (page?: number) => open(folder, page),
    audit: (page?: number) => auditOf(folder, page),
  }
}

function copied(t: Test) {
  const copy = copyOf(t)
  copyBooks(small, copy.folder)
  return copy
}

/** On PostgreSQL the processor's books go through it. */
const exporter = isOnPostgres() ? await createExporter(clock) : undefined
t.teardown(() => exporter?.close())

const open = async (folder: string, page = 4_000): Promise<Books> =>
  openBooks(folder, clock, { page, exported: await exporter?.export(folder) })

async function auditOf(folder: string, page?: number): Promise<AuditReport> {
  const books = await open(folder, page)
  const report = await audit(books, OPTIONS)
  await books.close()
  return report
}

t.test('intact books are clean while the processor has them open', async (t) => {
  for (const page of [4_000, 1, 2, 7]) {
    const report = await auditOf(small.folder, page)
    t.equal(report.broken, null)
    t.ok(report.clean)
    t.same(report.notAudited, [])
    t.same(
      report.checks.map(({ name, outcome }) => ({ name, outcome })),
      CHECKLIST.map(({ name }) => ({ name, outcome: 'ok' })),
      `all checks, ${page} rows a page`,
    )
  }
})

const OF_BOOKS = CORRUPTIONS.filter(({ file }) => file === 'processor.db')
/** On PostgreSQL one corruption of the books for each check shows that the export has it. */
const PLANTED = isOnPostgres()
  ? OF_BOOKS.filter((one) => OF_BOOKS.find(({ breaks }) => breaks === one.breaks) === one)
  : CORRUPTIONS

for (const { what, file, sql, breaks, of } of PLANTED) {
  t.test(`found: ${what}`, async (t) => {
    const copy = copied(t)
    await copy.inFile(file)(sql)
    const { clean, broken, checks } = await copy.audit(3)
    t.notOk(clean)
    t.equal(broken?.name, breaks, `${broken?.found} instead of ${broken?.expected}`)
    if (of !== undefined) t.equal(broken?.entity, of)
    const found = checks.filter(({ outcome }) => outcome === 'broken')
    t.same(found, [{ name: breaks, outcome: 'broken', rows: found[0]?.rows, ms: 0 }])
  })
}

t.test('a corrupt row is reported and hides no other violation', async (t) => {
  const copy = copied(t)
  const { captured, failed } = small.intents
  const cut = (table: string, id: string): string =>
    `UPDATE ${table} SET context = substr(context, 1, 99) WHERE id = '${id}';`
  const cuts = [cut('intents', captured), cut('intents', failed), cut('payouts', payouts.completed)]
  await copy.inBooks(cuts.join(' '))
  const report = await copy.audit()
  t.notOk(report.clean)
  t.same([...report.corrupt].sort(), [captured, failed, payouts.completed].sort())
  t.equal(report.broken?.name, 'texts_are_json')
  t.same(
    report.checks.filter(({ outcome }) => outcome !== 'ok').map(({ name }) => name),
    [
      ...['texts_are_json', 'reserved_matches_open_payments', 'limits_count_confirmations'],
      ...[LINKS, 'erased_users_have_their_payments'],
    ],
    'all other checks run',
  )
  await copy.inBooks(`UPDATE payouts SET state = 'failed' WHERE id = '${payouts.reversed}'`)
  const both = await copy.audit()
  t.equal(both.broken?.entity, payouts.reversed, 'a further violation is found')
  t.match(conclusion(both), `corrupt: ${captured}`)
})

t.test(
  'with two pools, an event finished by one may be missing or open in the other',
  async (t) => {
    for (const file of ['webhooks.db', 'webhooks-2.db'] as const) {
      const copy = copyOf(t)
      await copySharedBooks(small, copy.folder)
      for (const sql of ['', waitsIn(small), `DELETE FROM events WHERE position = ${BOTH_HAVE}`]) {
        await copy.inFile(file)(sql)
        const { broken, notAudited, checks } = await copy.audit(3)
        t.equal(broken, null, file)
        t.same(notAudited, [])
        t.ok(checks.every(({ outcome }) => outcome === 'ok'))
      }
    }
  },
)

for (const { what, files, sql, breaks } of ofTwoPools(small)) {
  t.test(`found: ${what}`, async (t) => {
    const copy = copyOf(t)
    await copySharedBooks(small, copy.folder)
    for (const file of files) await copy.inFile(file)(sql)
    const { broken } = await copy.audit(3)
    t.equal(broken?.name, breaks, `${broken?.found} instead of ${broken?.expected}`)
    t.ok(broken?.timeline.some(({ source }) => source === 'event'))
  })
}

t.test('every check has a corruption that it finds', async (t) => {
  const shown = new Set(CORRUPTIONS.map(({ breaks }) => breaks))
  // Tested below.
  for (const { name } of [filesAreIntact, railLogExists, reservedMatchesOpenPayments])
    shown.add(name)
  t.same(
    CHECKLIST.map(({ name }) => name).filter((name) => !shown.has(name)),
    [],
  )
  t.equal(new Set(CHECKLIST.map(({ name }) => name)).size, CHECKLIST.length, 'names are unique')
})

t.test('a violation comes with its timeline, ordered by time', async (t) => {
  const copy = copied(t)
  const sql = `UPDATE instructions SET state = 'executed' WHERE id = '${payouts.reversed}'`
  await copy.inRail(sql)
  const { broken } = await copy.audit()
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
  const timestamps = timeline.filter(({ source }) => source === 'payout').map(({ what }) => what)
  t.match(timestamps.join(), /createdAt.*processingAt.*completedAt.*reversedAt/)
  t.notMatch(JSON.stringify(timeline), '0123450000', 'no account number')
})

t.test('a mismatch with a recorded discrepancy is no violation', async (t) => {
  const copy = copied(t)
  await copy.inRail(`UPDATE instructions SET state = 'executed', executions = 1,
    transaction_id = 'sbx_1' WHERE id = '${payouts.failed}'`)
  t.equal((await copy.audit()).broken?.name, 'never_paid')
  await copy.inBooks(`INSERT INTO discrepancies (id, entity, reason, report, at)
      VALUES ('dis_1', '${payouts.failed}', 'executed_after_end', '{}', 1795233600000)`)
  t.ok((await copy.audit()).clean, 'an open discrepancy')
  await copy.inBooks(`UPDATE discrepancies SET settlement = 'keep',
        resolved_at = 1795233600009 WHERE id = 'dis_1';
    INSERT INTO operator_log (at, actor, reason, action, subject, evidence)
      VALUES (1795233600009, 'anna', 'paid back', 'resolve', 'dis_1', 'receipt 4')`)
  t.ok((await copy.audit()).clean, 'a resolved one with evidence')
})

const RETURNED = "state = 'returned', executions = 1, transaction_id = 'sbx_1', returned_at ="
const release = (at: number): string => `INSERT INTO recoveries
  VALUES (9, 1, 'a test', ${at}, NULL, '[]', 0, 0, 'writes');`

t.test('an instruction of lost books that the rail has ended is no violation', async (t) => {
  const lost = 'pout_00000000000000000000000000'
  const isFound = async (changes: string, releasedAfterMs: number): Promise<boolean> => {
    const copy = copied(t)
    await copy.inRail(`UPDATE instructions
        SET id = '${lost}', state = 'refused', refusal = 'rejected'
        WHERE id = '${payouts.processing}';
      UPDATE instructions SET received_at = 1795233600000 ${changes} WHERE id = '${lost}'`)
    const released = 1_795_233_600_000 + releasedAfterMs
    await copy.inBooks(release(released))
    const { broken } = await copy.audit()
    return broken?.name === 'instructions_match_submissions'
  }
  t.notOk(await isFound('', 1), 'before the release')
  t.ok(await isFound('', 0), 'not before the release')
  t.ok(await isFound(', executions = 1', 1), 'it was executed')
  t.ok(await isFound(", state = 'pending'", 1), 'it may be executed yet')
  const returned = `, ${RETURNED} 1795233600005`
  t.notOk(await isFound(returned, 6), 'its money was back before the release')
  t.ok(await isFound(returned, 5), 'its money came back later')
})

t.test('a payment that lost books had submitted and that was returned may fail', async (t) => {
  const copy = copied(t)
  const returned = `UPDATE instructions SET ${RETURNED} 5 WHERE id = '${payouts.failed}'`
  await copy.inRail(returned)
  await copy.inBooks(release(5))
  t.equal((await copy.audit()).broken?.name, 'never_paid', 'returned after the release')
  await copy.inBooks('UPDATE recoveries SET released_at = 6')
  t.equal((await copy.audit()).broken, null)
})

t.test('an instruction that lost books had sent may differ when it is sent again', async (t) => {
  const copy = copied(t)
  const refused = payouts.failed
  await copy.inRail(`INSERT INTO discrepancies (instruction, content, at)
      VALUES ('${refused}', 'other', 9);
    UPDATE instructions SET received_at = 5 WHERE id = '${refused}'`)
  t.equal((await copy.audit()).broken?.name, 'instructions_never_changed')
  await copy.inBooks(release(6))
  t.equal((await copy.audit()).broken, null, 'refused before the release')
})

t.test('a dismissed instruction that the rail has forgotten is no violation', async (t) => {
  const copy = copied(t)
  await copy.inBooks(`${release(5)} INSERT INTO orphan_executions
    VALUES ('pout_lost', 9, 'sandbox', 'payout', NULL, NULL, 5, 'VND', NULL, '', 1,
      'open', NULL, NULL, 'accepted', NULL)`)
  t.equal((await copy.audit()).broken?.name, 'orphans_are_executions', 'it is open')
  await copy.inBooks(`UPDATE orphan_executions SET status = 'resolved', resolved_at = 7;
    INSERT INTO operator_log (at, actor, reason, action, subject, evidence)
      VALUES (7, 'anna', 'forgotten', 'resolve_orphan_dismissed', 'pout_lost', 'letter 4')`)
  t.equal((await copy.audit()).broken, null)
})

t.test('an account number in a text of the partner is no violation', async (t) => {
  const copy = copied(t)
  const own = `'$.metadata.account', '0123456789', '$.description', '0123456789'`
  await copy.inBooks(
    `UPDATE payouts SET context = json_set(context, ${own}) WHERE id = '${payouts.completed}'`,
  )
  t.equal((await copy.audit()).broken, null)
})

t.test('limit counters are compared one at a time', async (t) => {
  const copy = copied(t)
  const findIn = async (): Promise<unknown> => {
    const books = await copy.open(2)
    const { broken } = await limitsAtOnce(1).run(books)
    await books.close()
    return broken
  }
  t.equal(await findIn(), null)
  const lost = '["demo_sandbox","maria+unknown","th_promptpay"] 2026-11'
  await copy.inBooks(`DELETE FROM limit_usage WHERE key = '${lost}'`)
  t.match(await findIn(), { entity: lost, found: 'no counter' })
})

t.test('a reserved balance without open payments is found', async (t) => {
  const copy = copied(t)
  const held = "state IN ('created', 'processing')"
  await copy.inBooks(`UPDATE payouts SET state = 'failed' WHERE ${held}`)
  const books = await copy.open()
  const { broken } = await reservedMatchesOpenPayments.run(books)
  t.ok(CHECKLIST.includes(reservedMatchesOpenPayments))
  t.match(broken, { entity: 'demo_sandbox:VND:reserved', found: '37599900', expected: '0' })
  await books.close()
})

t.test('a settled event without a subscriber need not be in a pool', async (t) => {
  const notInPool = `type IN ('payout.created', 'payment_intent.authorized')`
  for (const [isClean, change] of [
    [true, `enabled_events = '["payout.completed"]'`],
    [true, `enabled_events_since = ${clock.now()}`],
    [true, "status = 'deleted'"],
    [false, "status = 'disabled', disabled_at = 1"],
    [false, `enabled_events = '["payout.completed","payout.created"]'`],
  ] as const) {
    const copy = copied(t)
    await copy.inBooks(`UPDATE webhook_endpoints SET ${change}`)
    await copy.inPool(`DELETE FROM attempts WHERE delivery_id IN (SELECT d.id FROM deliveries d
         JOIN events e ON e.id = d.event_id WHERE e.${notInPool});
       DELETE FROM deliveries WHERE event_id IN (SELECT id FROM events WHERE ${notInPool});
       DELETE FROM events WHERE ${notInPool}`)
    const books = await copy.open()
    t.equal((await settledEventsAreFinal.run(books)).broken === null, isClean, change)
    await books.close()
  }
})

t.test('changes made during the audit are no violation', async (t) => {
  const copy = copied(t)
  const sql = `UPDATE instructions SET state = 'returned' WHERE id = '${payouts.completed}'`
  await copy.inRail(sql)
  const before = await copy.open()
  t.equal((await railReturnsAreRefunded.run(before)).broken?.entity, payouts.completed)
  await before.close()
  const books = await copy.open()
  await copy.inBooks(`UPDATE payouts SET state = 'reversed'
    WHERE id = '${payouts.completed}'`)
  t.equal((await railReturnsAreRefunded.run(books)).broken, null, 'the current row has the change')
  await books.close()

  await copy.inRail(`INSERT INTO instructions (id, purpose, amount, currency, account, content,
      received_at, state, refusal, transaction_id, executions, due_at, due_step, report_id,
      executed_at, returned_at)
    SELECT 'pout_00000000000000000000000000', purpose, amount, currency, account, content,
    ${clock.now()}, state, refusal, transaction_id, executions, due_at, due_step, report_id,
    executed_at, returned_at
    FROM instructions WHERE id = '${payouts.processing}'`)
  await copy.inRail(`UPDATE instructions SET state = 'executed'
    WHERE id = '${payouts.completed}'`)
  await copy.inBooks(`UPDATE payouts SET state = 'completed'
    WHERE id = '${payouts.completed}'`)
  t.ok((await copy.audit()).clean, 'an instruction after the snapshot')
})

t.test('a redriven or late delivery is no violation', async (t) => {
  const copy = copied(t)
  const pending = (context: string): string => `
    UPDATE deliveries SET state = 'pending', due_at = ${clock.now()},
      context = json_set(context, '$.dueAt', ${clock.now()}, ${context})
      WHERE state = 'dead';
    UPDATE events SET open = 1 WHERE id = (SELECT event_id FROM deliveries WHERE state = 'pending')`
  await copy.inPool(pending(`'$.tries', 1, '$.attempts', 0`))
  t.equal((await copy.audit()).broken, null)
})

t.test('a missing database is named as not audited', async (t) => {
  const copy = copied(t)
  rmSync(join(copy.folder, 'webhooks.db'))
  const report = await copy.audit()
  t.ok(report.clean)
  t.same(report.notAudited, ['webhooks'])
  t.ok(report.checks.some(({ outcome }) => outcome === 'left out'))
  rmSync(join(copy.folder, 'rail.key'))
  const keyless = await copy.audit()
  t.same(keyless.notAudited, ['railKey', 'webhooks'])
  const secrets = keyless.checks.find(({ name }) => name === 'no_plaintext_accounts')
  t.match(secrets, { outcome: 'left out' })
  rmSync(join(copy.folder, 'rail.db'))
  t.equal((await copy.audit()).broken?.name, 'rail_log_exists')
  rmSync(join(copy.folder, 'processor.db'))
  await t.rejects(copy.audit(), { name: 'NothingToAudit' })
})

t.test('a damaged page is found', { skip: sqliteOnly('its pages') }, async (t) => {
  const copy = copied(t)
  const file = openSync(join(copy.folder, 'processor.db'), 'r+')
  writeSync(file, Buffer.alloc(4_096, 0xff), 0, 4_096, 4 * 4_096)
  closeSync(file)
  t.equal((await copy.audit()).broken?.name, 'files_are_intact')
})

t.test('the audit imports none of the code that it audits', async (t) => {
  const folder = join(projectRoot(), 'src/audit')
  const words =
    '\\.\\./base/(clock|subjects|visible_text)\\.js|\\.\\./files/secret_file\\.js|' +
    '\\.\\./settings/(settings|settings_reader)\\.js|\\.\\./process/program_options\\.js'
  // Rows are copied, not interpreted.
  const store = '\\.\\./store/(database|sqlite/database|postgres/copy)\\.js'
  const allowed = new RegExp(`^(node:.*|\\./.*|${words}|${store})$`)
  // By the program alone: a server that is stopped is started, and stack traces name sources.
  const fromMain = /^\.\.\/(supervisor\/stopped_store|process\/source_positions)\.js$/
  const fromChecks = /^\.\.\/(books|check|rail_accounts)\.js$|^\.\.\/\.\.\/base\/clock\.js$/
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const text = readFileSync(join(folder, name), 'utf8')
    const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from ?? '')
    const further = name.startsWith('checks') ? fromChecks : name === 'main.ts' ? fromMain : allowed
    const rule = new RegExp(`${allowed.source}|${further.source}`)
    t.same(
      imports.filter((from) => !rule.test(from)),
      [],
      name,
    )
  }
})
