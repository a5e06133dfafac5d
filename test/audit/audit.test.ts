/**
 * The audit finds nothing in books that were kept well, and each kind of damage under its own name.
 *
 * Every corruption is planted in a copy: one statement against one database, as a bug, a bad disk
 * or a hand in the file would leave it.
 */
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { audit, type Verdict } from '../../src/audit/audit.js'
import { openBooks } from '../../src/audit/books.js'
import { CHECKLIST } from '../../src/audit/checklist.js'
import { reservedIsUnderWay } from '../../src/audit/checks/amounts.js'
import { filesAreWhole } from '../../src/audit/checks/files.js'
import { limitsAtOnce } from '../../src/audit/checks/limits.js'
import { cameBackIsGivenBack, railLogIsThere } from '../../src/audit/checks/rail.js'
import { instant, type Clock } from '../../src/base/clock.js'
import { projectRoot } from '../../src/base/protos.js'
import { openDatabase } from '../../src/store/database.js'
import { copyBooks, copySharedBooks, writeSmallBooks, type BookFile } from './small_books.js'

const small = await writeSmallBooks(t)
const { payouts, intents } = small
/** The auditor comes after all that has happened. */
const afterwards: Clock = { now: () => instant(small.world.clock.now() + 1) }
const QUIETLY = { live: false, stopwatch: () => 0, tell: () => undefined }

async function auditOf(folder: string, page?: number): Promise<Verdict> {
  const books = await openBooks(folder, afterwards, page)
  const verdict = await audit(books, QUIETLY)
  await books.close()
  return verdict
}

async function plant(folder: string, file: BookFile, sql: string): Promise<void> {
  const database = await openDatabase(join(folder, file))
  await database.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`)
  await database.close()
}

interface Planted {
  readonly what: string
  readonly file?: BookFile
  readonly sql: string
  /** The check that has to find it. */
  readonly breaks: string
  /** The entity it has to name. */
  readonly of?: string
}

const setIn = (table: string, id: string, path: string, value: string): string =>
  `UPDATE ${table} SET context = json_set(context, '${path}', ${value}) WHERE id = '${id}'`

const FIRST_CREATED = "(SELECT min(position) FROM events WHERE type = 'payout.created')"

const CORRUPTIONS: readonly Planted[] = [
  {
    what: 'a balance below its floor',
    sql: "UPDATE ledger_accounts SET balance = -1 WHERE id = 'demo_sandbox:VND:prefund'",
    breaks: 'balances_recompute',
  },
  {
    what: 'a second execution',
    file: 'rail.db',
    sql: `UPDATE instructions SET executions = 2 WHERE id = '${payouts.completed}'`,
    breaks: 'paid_exactly_once',
  },
  {
    what: 'a context cut short',
    sql: `UPDATE payouts SET context = substr(context, 1, 99) WHERE id = '${payouts.held}'`,
    breaks: 'texts_are_json',
    of: payouts.held,
  },
  {
    what: 'an amount changed by one',
    sql: `UPDATE ledger_entries SET amount = amount + 1
            WHERE entity = '${payouts.completed}' AND plan = 'payout_completed' AND line = 2`,
    breaks: 'postings_sum_to_zero',
    of: payouts.completed,
  },
  {
    what: 'a line lost',
    sql: `DELETE FROM ledger_entries WHERE entity = '${intents.captured}' AND line = 3`,
    breaks: 'postings_sum_to_zero',
    of: intents.captured,
  },
  {
    what: 'a line of a posting given to another entity',
    sql: `UPDATE ledger_entries SET entity = '${payouts.held}'
            WHERE entity = '${payouts.completed}' AND line = 2`,
    breaks: 'postings_sum_to_zero',
  },
  {
    what: 'money spent before it came in',
    sql: `UPDATE ledger_entries SET posting = posting + 1000 WHERE posting IN
            (SELECT posting FROM ledger_entries WHERE account = 'demo_sandbox:VND:funding')`,
    breaks: 'nothing_is_overdrawn',
    of: payouts.completed,
  },
  {
    what: 'a running balance changed by one',
    sql: `UPDATE ledger_entries SET balance = balance + 1
            WHERE entity = '${payouts.reversed}' AND plan = 'payout_reversed' AND line = 1`,
    breaks: 'running_balances_follow',
    of: payouts.reversed,
  },
  {
    what: 'a posting lost',
    sql: `DELETE FROM ledger_entries
            WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
    breaks: 'running_balances_follow',
  },
  {
    what: 'a balance beyond 2^53 changed by one',
    sql: "UPDATE ledger_accounts SET balance = balance - 1 WHERE id = 'demo_sandbox:THB:prefund'",
    breaks: 'balances_recompute',
    of: 'demo_sandbox:THB:prefund',
  },
  {
    what: 'an account lost',
    sql: "DELETE FROM ledger_accounts WHERE id = 'demo_sandbox:VND:fees'",
    breaks: 'balances_recompute',
    of: 'demo_sandbox:VND:fees',
  },
  {
    what: 'a timer moved',
    sql: `UPDATE payouts SET due_at = due_at + 1 WHERE id = '${payouts.processing}'`,
    breaks: 'columns_repeat_the_context',
    of: payouts.processing,
  },
  {
    what: 'an entity given to another tenant',
    sql: `UPDATE intents SET tenant = 'other_sandbox' WHERE id = '${intents.captured}'`,
    breaks: 'columns_repeat_the_context',
    of: intents.captured,
  },
  {
    what: 'a state without its moment',
    sql: `UPDATE payouts SET state = 'completed' WHERE id = '${payouts.processing}'`,
    breaks: 'states_fit_their_moments',
    of: payouts.processing,
  },
  {
    what: 'a moment without its state',
    sql: setIn('intents', intents.authorized, '$.capturedAt', '1795233600000'),
    breaks: 'states_fit_their_moments',
    of: intents.authorized,
  },
  {
    what: 'a timer lost',
    sql: `UPDATE intents SET due_at = NULL, context = json_set(context, '$.wakeAt', NULL)
            WHERE id = '${intents.authorized}'`,
    breaks: 'open_ones_have_a_timer',
    of: intents.authorized,
  },
  {
    what: 'a beneficiary given to another tenant',
    sql: `UPDATE beneficiaries SET tenant = 'demo_production' WHERE id =
            (SELECT context ->> '$.beneficiary.id' FROM payouts WHERE id = '${payouts.failed}')`,
    breaks: 'tenants_are_partners',
    of: payouts.failed,
  },
  {
    what: 'a fee changed by one',
    sql: setIn('payouts', payouts.completed, '$.fees.rail', "'3301'"),
    breaks: 'payout_amounts_add_up',
    of: payouts.completed,
  },
  {
    what: 'a cent too much in a quote',
    sql: setIn('intents', intents.created, '$.scanned.quote.cents', '1003'),
    breaks: 'quotes_follow_their_rate',
    of: intents.created,
  },
  {
    what: 'a posting of nobody',
    sql: `UPDATE ledger_entries SET entity = 'pout_00000000000000000000000000'
            WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
    breaks: 'postings_have_an_entity',
  },
  {
    what: 'an entry that its partner is not shown',
    sql: `UPDATE ledger_entries SET tenant = NULL
            WHERE entity = '${payouts.reversed}' AND plan = 'payout_reversed' AND line = 2`,
    breaks: 'entries_show_their_owner',
    of: payouts.reversed,
  },
  {
    what: 'a conversion at other terms than offered',
    sql: 'UPDATE fx_quotes SET bought = bought + 1',
    breaks: 'conversions_fit_their_offer',
  },
  {
    what: 'a conversion without an offer',
    sql: 'UPDATE fx_quotes SET conversion = NULL',
    breaks: 'conversions_fit_their_offer',
  },
  {
    what: 'a discrepancy of another amount than posted',
    sql: 'UPDATE discrepancies SET amount = amount + 1 WHERE resolved_at IS NULL',
    breaks: 'discrepancies_are_posted',
  },
  {
    what: 'a credit to the partner that was posted at our cost',
    sql: `UPDATE ledger_entries SET plan = 'discrepancy_gained'
            WHERE plan = 'discrepancy_credited'`,
    breaks: 'discrepancies_are_posted',
  },
  {
    what: 'a loss that is said to be the charge of the partner',
    sql: `UPDATE discrepancies SET settlement = 'charge_partner'
            WHERE settlement = 'write_off' AND plan = 'discrepancy_paid'`,
    breaks: 'discrepancies_are_posted',
  },
  {
    what: 'a discrepancy undone and not posted back',
    sql: `UPDATE discrepancies SET settlement = 'undo', resolved_at = at WHERE resolved_at IS NULL`,
    breaks: 'discrepancies_are_posted',
  },
  {
    what: 'two deposits under one id',
    sql: `UPDATE ledger_entries SET entity =
            (SELECT entity FROM ledger_entries WHERE account = 'demo_sandbox:USD:funding')
            WHERE posting =
            (SELECT posting FROM ledger_entries WHERE account = 'demo_sandbox:VND:funding')`,
    breaks: 'deposits_are_posted_once',
  },
  {
    what: 'a posting moved to another payout',
    sql: `UPDATE ledger_entries SET entity = '${payouts.processing}'
            WHERE entity = '${payouts.failed}' AND plan = 'payout_failed'`,
    breaks: 'payouts_are_posted_as_lived',
  },
  {
    what: 'a posting under another plan',
    sql: `UPDATE ledger_entries SET plan = 'intent_failed'
            WHERE entity = '${intents.cancelledLate}' AND plan = 'intent_cancelled'`,
    breaks: 'intents_are_posted_as_lived',
    of: intents.cancelledLate,
  },
  {
    what: 'a counter changed by one',
    sql: `UPDATE limit_usage SET used = used - 1 WHERE key LIKE '["demo_sandbox","maria+unknown%'`,
    breaks: 'limits_count_confirmations',
  },
  {
    what: 'a counter lost',
    sql: `DELETE FROM limit_usage WHERE key LIKE '["demo_sandbox","user \\"ü\\" 1"%'`,
    breaks: 'limits_count_confirmations',
  },
  {
    what: 'a confirmation counted in another month',
    sql: setIn('intents', intents.captured, '$.confirmation.monthKey', "'[] 2020-01'"),
    breaks: 'limits_count_confirmations',
    of: intents.captured,
  },
  {
    what: 'an event lost',
    sql: `DELETE FROM events WHERE entity = '${payouts.reversed}' AND type = 'payout.reversed'`,
    breaks: 'transitions_are_told',
    of: payouts.reversed,
  },
  {
    what: 'an event of something that has not been',
    sql: `INSERT INTO events SELECT 1000, 'evt_x', tenant, 1000, 'payout.failed', entity,
            created_at, settled_at, body FROM events
            WHERE entity = '${payouts.completed}' AND type = 'payout.completed'`,
    breaks: 'nothing_else_is_told',
    of: payouts.completed,
  },
  {
    what: 'a low balance that has not been',
    sql: "UPDATE events SET entity = 'demo_sandbox:VND:prefund@99999' WHERE type = 'balance.low'",
    breaks: 'nothing_else_is_told',
  },
  {
    what: 'a test that names another number',
    sql: "UPDATE events SET entity = entity || '0' WHERE type = 'webhook_endpoint.test'",
    breaks: 'nothing_else_is_told',
  },
  {
    what: 'an event of no known type',
    sql: "UPDATE events SET type = 'payment.made' WHERE type = 'webhook_endpoint.test'",
    breaks: 'nothing_else_is_told',
  },
  {
    what: 'a gap in the sequence',
    sql: `UPDATE events SET sequence = sequence + 1
            WHERE position = (SELECT max(position) FROM events)`,
    breaks: 'sequences_have_no_gap',
  },
  {
    what: 'an event published after its successor',
    sql: 'UPDATE events SET position = position + 1000 WHERE sequence = 3',
    breaks: 'sequences_have_no_gap',
  },
  {
    what: 'another amount in the body of an event',
    sql: `UPDATE events SET body = json_set(body, '$.data.payout.amount', '1')
            WHERE entity = '${payouts.failed}' AND type = 'payout.failed'`,
    breaks: 'bodies_say_what_happened',
    of: payouts.failed,
  },
  {
    what: 'the time in the body of an event',
    sql: `UPDATE events SET body = json_set(body, '$.created_at', '2026-11-21T03:00:00.001Z')
            WHERE entity = '${intents.expired}'`,
    breaks: 'bodies_say_what_happened',
    of: intents.expired,
  },
  {
    what: 'a kept request for nobody',
    sql: `UPDATE idempotency SET entity = 'pi_00000000000000000000000000'
            WHERE entity = '${intents.created}'`,
    breaks: 'keys_lead_somewhere',
  },
  {
    what: 'a kept request lost, of an intent',
    sql: `DELETE FROM idempotency WHERE entity = '${intents.created}'`,
    breaks: 'keys_are_found_again',
  },
  {
    what: 'the last kept request lost',
    sql: 'DELETE FROM idempotency WHERE sequence = (SELECT max(sequence) FROM idempotency)',
    breaks: 'keys_are_found_again',
  },
  {
    what: 'a bit of a print changed',
    sql: `UPDATE idempotency_prints SET prints = zeroblob(length(prints))
            WHERE first = (SELECT sequence FROM idempotency WHERE entity = '${payouts.failed}')`,
    breaks: 'keys_are_found_again',
    of: payouts.failed,
  },
  {
    what: 'prints lost',
    sql: 'DELETE FROM idempotency_prints WHERE first = 2',
    breaks: 'keys_are_found_again',
  },
  {
    what: 'an intent linked to none before it',
    sql: `UPDATE intent_users SET links = json_set(links, '$[0][1]', 0)
            WHERE links ->> '$[0][1]' = (SELECT max(links ->> '$[0][1]') FROM intent_users)`,
    breaks: 'users_find_their_intents',
  },
  {
    what: 'the link of the last intent lost',
    sql: 'DELETE FROM intent_users WHERE first = (SELECT max(first) FROM intent_users)',
    breaks: 'users_find_their_intents',
  },
  {
    what: "a bit of a user's print changed",
    sql: `UPDATE intent_users SET prints = zeroblob(length(prints))
            WHERE first = (SELECT max(links ->> '$[0][1]') FROM intent_users)`,
    breaks: 'users_find_their_intents',
  },
  {
    what: 'a kept answer about another payout',
    sql: `UPDATE idempotency SET entity = '${payouts.failed}'
            WHERE entity = '${payouts.completed}'`,
    breaks: 'keys_lead_somewhere',
  },
  {
    what: 'a kept request lost',
    sql: `DELETE FROM idempotency WHERE entity = '${payouts.completed}'`,
    breaks: 'payouts_keep_their_key',
    of: payouts.completed,
  },
  {
    what: 'a signing secret in clear',
    sql: "UPDATE signing_keys SET sealed_secret = 'sk_0123456789'",
    breaks: 'secrets_are_sealed',
  },
  {
    what: 'a beneficiary that was not sealed anew',
    sql: `UPDATE beneficiaries SET sealed_account = replace(sealed_account, 'v1.k1.', 'v1.k0.');
          INSERT INTO master_keys VALUES ('k0', NULL, 1);`,
    breaks: 'sealed_with_kept_keys',
  },
  {
    what: 'a master key of which nothing is noted',
    sql: 'DELETE FROM master_keys',
    breaks: 'sealed_with_kept_keys',
  },
  {
    what: 'a webhook secret in clear',
    sql: "UPDATE webhook_endpoints SET secrets = json_set(secrets, '$[0].sealed', 'whsec_01')",
    breaks: 'secrets_are_sealed',
  },
  {
    what: 'an account number in clear in an intent',
    sql: setIn(
      'intents',
      intents.captured,
      '$.scanned.destination.sealedAccount',
      "'0066812345678'",
    ),
    breaks: 'secrets_are_sealed',
    of: intents.captured,
  },
  {
    what: 'a discrepancy resolved by nobody',
    sql: `UPDATE discrepancies SET settlement = 'keep', resolved_at = at WHERE resolved_at IS NULL`,
    breaks: 'discrepancies_are_resolved_by_name',
    of: payouts.processing,
  },
  {
    what: 'a payment that the rail does not know',
    file: 'rail.db',
    sql: `DELETE FROM instructions WHERE id = '${payouts.completed}'`,
    breaks: 'paid_exactly_once',
    of: payouts.completed,
  },
  {
    what: 'a payment that the rail has not executed',
    file: 'rail.db',
    sql: `UPDATE instructions SET state = 'pending', executions = 0, transaction_id = NULL
            WHERE id = '${intents.captured}'`,
    breaks: 'paid_exactly_once',
    of: intents.captured,
  },
  {
    what: 'a payment of another amount',
    file: 'rail.db',
    sql: `UPDATE instructions SET amount = amount + 1 WHERE id = '${payouts.completed}'`,
    breaks: 'paid_exactly_once',
    of: payouts.completed,
  },
  {
    what: 'a payment in another currency',
    file: 'rail.db',
    sql: `UPDATE instructions SET currency = 'USD' WHERE id = '${intents.refunded}'`,
    breaks: 'paid_exactly_once',
    of: intents.refunded,
  },
  {
    what: 'a failed payout that was paid',
    file: 'rail.db',
    sql: `UPDATE instructions SET state = 'executed', executions = 1, transaction_id = 'sbx_1'
            WHERE id = '${payouts.failed}'`,
    breaks: 'never_paid',
    of: payouts.failed,
  },
  {
    what: 'an open payment of another amount',
    file: 'rail.db',
    sql: `UPDATE instructions SET amount = amount * 10 WHERE id = '${intents.authorized}'`,
    breaks: 'open_paid_at_most_once',
    of: intents.authorized,
  },
  {
    what: 'a payment that nobody ordered',
    file: 'rail.db',
    sql: `UPDATE instructions SET id = 'pout_00000000000000000000000000'
            WHERE id = '${payouts.processing}'`,
    breaks: 'instructions_were_ordered',
  },
  {
    what: 'an instruction that was not handed over',
    file: 'rail.db',
    sql: `INSERT INTO instructions SELECT '${payouts.notHandedOver}', purpose, amount, currency,
            '0123453333', content, received_at, state, refusal, transaction_id, executions, due_at,
            due_step, report_id, executed_at, returned_at
            FROM instructions WHERE id = '${payouts.processing}'`,
    breaks: 'instructions_were_ordered',
    of: payouts.notHandedOver,
  },
  {
    what: 'a payment to another account',
    file: 'rail.db',
    sql: `UPDATE instructions SET account = '0123456780' WHERE id = '${payouts.completed}'`,
    breaks: 'instructions_were_ordered',
    of: payouts.completed,
  },
  {
    what: 'an instruction that came with other content',
    file: 'rail.db',
    sql: `INSERT INTO discrepancies VALUES ('${payouts.completed}', 'digest', 1795233600000)`,
    breaks: 'instructions_came_unchanged',
    of: payouts.completed,
  },
  {
    what: 'a refund that never came back',
    file: 'rail.db',
    sql: `UPDATE instructions SET state = 'executed' WHERE id = '${intents.refunded}'`,
    breaks: 'given_back_came_back',
    of: intents.refunded,
  },
  {
    what: 'a return that was not booked',
    file: 'rail.db',
    sql: `UPDATE instructions SET state = 'returned' WHERE id = '${payouts.completed}'`,
    breaks: 'came_back_is_given_back',
    of: payouts.completed,
  },
  {
    what: 'an account number in the context of a payout',
    sql: setIn('payouts', payouts.completed, '$.beneficiary.account', "'0123456789'"),
    breaks: 'accounts_are_not_in_clear',
    of: payouts.completed,
  },
  {
    what: 'a settled event that the pool has lost',
    file: 'webhooks.db',
    sql: `DELETE FROM events WHERE position = ${FIRST_CREATED}`,
    breaks: 'settled_events_have_ended',
    of: payouts.completed,
  },
  {
    what: 'an event settled while its delivery waits',
    sql: `UPDATE events SET settled_at = created_at
            WHERE position = (SELECT max(position) FROM events WHERE settled_at IS NULL
                                AND type <> 'payment_intent.authorized')`,
    breaks: 'settled_events_have_ended',
  },
  {
    what: 'an open delivery that is not counted',
    file: 'webhooks.db',
    sql: 'UPDATE events SET open = 0 WHERE open = 1',
    breaks: 'deliveries_are_counted',
  },
  {
    what: 'a delivery without an attempt',
    file: 'webhooks.db',
    sql: `DELETE FROM attempts WHERE status = 200 AND delivery_id =
            (SELECT min(delivery_id) FROM attempts WHERE status = 200)`,
    breaks: 'deliveries_are_counted',
  },
  {
    what: 'a delivery lost',
    file: 'webhooks.db',
    sql: `DELETE FROM deliveries WHERE event_id =
            (SELECT id FROM events WHERE type = 'payout.created'
               ORDER BY position LIMIT 1 OFFSET 2)`,
    breaks: 'deliveries_have_no_gap',
  },
  {
    what: 'a body changed on its way',
    file: 'webhooks.db',
    sql: `UPDATE events SET body = replace(body, '12500000', '12500001')
            WHERE position = ${FIRST_CREATED}`,
    breaks: 'pool_tells_what_happened',
    of: payouts.completed,
  },
  {
    what: 'an outcome that was reported and forgotten',
    sql: `UPDATE events SET settled_at = NULL WHERE position = ${FIRST_CREATED}`,
    breaks: 'pool_tells_what_happened',
    of: payouts.completed,
  },
]

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
    t.same(checks.at(-1), { name: breaks, outcome: 'broken', rows: checks.at(-1)?.rows, ms: 0 })
  })
}

const BOTH_HAVE = '(SELECT min(position) FROM events WHERE position % 3 = 2)'
const ONLY_THE_SECOND_HAS = '(SELECT min(position) FROM events WHERE position % 3 = 0)'
/** An event that both have, its delivery tried in vain before it was settled. */
const WAITS = `
  UPDATE deliveries SET state = 'waiting', due_at = ${afterwards.now()},
    context = json_set(context, '$.dueAt', ${afterwards.now()}, '$.tries', 1, '$.attempts', 1)
    WHERE event_id = (SELECT id FROM events WHERE position = ${BOTH_HAVE});
  UPDATE events SET open = 1 WHERE position = ${BOTH_HAVE}`

void t.test('two pools: what one has done with may be lost or open in the other', async (t) => {
  for (const file of ['webhooks.db', 'webhooks-2.db'] as const) {
    const folder = t.testdir()
    await copySharedBooks(small, folder)
    for (const sql of ['', WAITS, `DELETE FROM events WHERE position = ${BOTH_HAVE}`]) {
      await plant(folder, file, sql)
      const { broken, notAudited, checks } = await auditOf(folder, 3)
      t.equal(broken, null, file)
      t.same(notAudited, [])
      t.ok(checks.every(({ outcome }) => outcome === 'ok'))
    }
  }
})

interface PlantedInTwo extends Omit<Planted, 'file'> {
  readonly files: readonly BookFile[]
}

const OF_TWO_POOLS: readonly PlantedInTwo[] = [
  {
    what: 'a settled event that both pools have lost',
    files: ['webhooks.db', 'webhooks-2.db'],
    sql: `DELETE FROM events WHERE position = ${BOTH_HAVE}`,
    breaks: 'settled_events_have_ended',
  },
  {
    what: 'an event settled while its delivery waits in both pools',
    files: ['webhooks.db', 'webhooks-2.db'],
    sql: WAITS,
    breaks: 'settled_events_have_ended',
  },
  {
    what: 'an open delivery that the second pool does not count',
    files: ['webhooks-2.db'],
    sql: `${WAITS}; UPDATE events SET open = 0`,
    breaks: 'deliveries_are_counted',
  },
  {
    what: 'a delivery that the second pool has lost',
    files: ['webhooks-2.db'],
    sql: `DELETE FROM deliveries WHERE event_id =
            (SELECT id FROM events WHERE type = 'payout.created'
               ORDER BY position LIMIT 1 OFFSET 2)`,
    breaks: 'deliveries_have_no_gap',
  },
  {
    what: 'a body that the second pool has changed',
    files: ['webhooks-2.db'],
    sql: `UPDATE events SET body = body || ' ' WHERE position = ${ONLY_THE_SECOND_HAS}`,
    breaks: 'pool_tells_what_happened',
  },
]

for (const { what, files, sql, breaks } of OF_TWO_POOLS) {
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

void t.test('counters compared one at a time', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const findIn = async (): Promise<unknown> => {
    const books = await openBooks(folder, afterwards, 2)
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
  const books = await openBooks(folder, afterwards)
  const { broken } = await reservedIsUnderWay.run(books)
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
  const books = await openBooks(folder, afterwards)
  t.equal((await cameBackIsGivenBack.run(books)).broken?.entity, payouts.completed)
  await plant(
    folder,
    'processor.db',
    `UPDATE payouts SET state = 'reversed'
    WHERE id = '${payouts.completed}'`,
  )
  t.equal((await cameBackIsGivenBack.run(books)).broken, null, 'the processor has it by now')
  await books.close()

  await plant(
    folder,
    'rail.db',
    `INSERT INTO instructions SELECT
    'pout_00000000000000000000000000', purpose, amount, currency, account, content,
    ${afterwards.now()}, state, refusal, transaction_id, executions, due_at, due_step, report_id,
    executed_at, returned_at FROM instructions WHERE id = '${payouts.processing}'`,
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
    UPDATE deliveries SET state = 'pending', due_at = ${afterwards.now()},
      context = json_set(context, '$.dueAt', ${afterwards.now()}, ${context})
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
