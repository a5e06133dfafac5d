/**
 * Small books with one payment of each lifecycle, written by the real processor, sandbox rail and
 * webhook store.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { instant, type Clock } from '../../src/base/clock.js'
import {
  newId,
  tenantOf,
  type DeliveryId,
  type EndpointId,
  type EventId,
  type IntentId,
  type PartnerId,
  type PayoutId,
} from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'
import { approveRequest } from '../../src/processor/commands/approvals/approval_request_decide.js'
import { setBalanceAlert } from '../../src/processor/commands/funds/balance_alert_set.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { correctDeposit } from '../../src/processor/commands/funds/deposit_correct.js'
import { withdraw } from '../../src/processor/commands/funds/withdraw.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { settleEvents } from '../../src/processor/commands/webhook_endpoints/events_settle.js'
import { createFxConversion } from '../../src/processor/commands/funds/fx_conversion_create.js'
import { createFxQuote } from '../../src/processor/commands/funds/fx_quote_create.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { refundIntent } from '../../src/processor/commands/intents/intent_refund.js'
import { resolveIntent } from '../../src/processor/commands/intents/intent_resolve.js'
import { scanIntent } from '../../src/processor/commands/intents/intent_scan.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { resolvePayout } from '../../src/processor/commands/payouts/payout_resolve.js'
import { approvePayout } from '../../src/processor/commands/payouts/payout_review.js'
import { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'
import { switchWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_switch.js'
import { testWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_test.js'
import { newDelivery, type DeliveryContext } from '../../actors/webhook/delivery/machine.js'
import type { AttemptRow, DeliveryRow } from '../../actors/webhook/store/schema.js'
import { openWebhookStore } from '../../actors/webhook/store/store.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { exportSchemas } from '../../src/store/postgres/copy.js'
import type { StoredEvent } from '../../src/store/store.js'
import { isOnPostgres, server, shardOf } from '../support/books.js'
import { anIntent, aPayout, promptPayQr } from '../support/requests.js'
import { openSandboxRail, type SandboxRail } from '../support/sandbox_rail.js'
import { NO_FINDINGS } from '../support/statements.js'
import { createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { NO_REPORTS } from '../support/webhook_store.js'

export interface SmallBooks {
  /** The data folder. */
  readonly folder: string
  readonly world: World
  readonly payouts: Readonly<Record<PayoutCase, PayoutId>>
  readonly intents: Readonly<Record<IntentCase, IntentId>>
}

type PayoutCase =
  | 'completed'
  | 'failed'
  | 'reversed'
  | 'processing'
  | 'held'
  | 'approved'
  | 'forgotten'
  | 'byHand'
  | 'notSubmitted'
type IntentCase =
  | 'created'
  | 'authorized'
  | 'notSubmitted'
  | 'captured'
  | 'refunded'
  | 'refundFailed'
  | 'failed'
  | 'tooLate'
  | 'expired'
  | 'cancelled'
  | 'cancelledLate'
  | 'byHand'

const MANY = '900000000000000000'

export async function writeSmallBooks(t: Test): Promise<SmallBooks> {
  const world = await createWorld(t, { rules: { secondOperator: FOR_EUROS } })
  const folder = t.testdirName
  const bank = await openSandboxRail(world, join(folder, 'rail.db'))
  const { id: endpoint } = viewOf<{ id: EndpointId }>(
    await world.run(
      createWebhookEndpoint(DEMO, {
        url: 'https://partner.test/hook',
        enabled_events: [],
        idempotency_key: 'hook',
      }),
    ),
  )
  world.clock.pass(1) // of events of the moment in which its filter was set nothing is known
  const payouts = await makePayouts(world, bank)
  viewOf(await world.run(testWebhookEndpoint(DEMO, endpoint)))
  for (const to of ['disabled', 'enabled', 'disabled', 'enabled'] as const) {
    viewOf(await world.run(switchWebhookEndpoint(DEMO, endpoint, to)))
  }
  const intents = await makeIntents(world, bank)
  await fund(world)
  await bank.close()
  await deliver(world, join(folder, 'webhooks.db'), endpoint)
  const file = join(folder, 'processor.db')
  if (isOnPostgres())
    await exportSchemas(server(), [{ schema: shardOf(folder), file, holds: 'books' }])
  else await writeBack(file)
  return { folder, world, payouts, intents }
}

const ANNA = { name: 'anna', reason: 'ticket 7' }
const BERT = { name: 'bert', reason: 'checked with the bank' }
const OPERATORS = [ANNA, BERT].map(({ name }) =>
  configuredCaller(callerEntry('operator', name, `token-of-${name}`)),
)
/** No amount in the other currencies needs a second operator. */
const FOR_EUROS = rulesOf(
  readSettings(
    { SECOND_OPERATOR_FROM: ['USD', 'THB', 'VND'].map((c) => `${c}:${MANY}`).join() },
    '',
  ),
).secondOperator
const EVIDENCE = 'statement of 21 November, line 4'

async function fund(world: World): Promise<void> {
  const [currency, amount] = ['THB', '9007199254740993'] // 2^53 + 1
  await world.run(deposit(ANNA, DEMO, { currency, amount, idempotencyKey: 'wire-1' }))
  const production = { currency: 'USD', amount: '700', idempotencyKey: 'wire-1' }
  viewOf(await world.run(deposit(ANNA, tenantOf('demo' as PartnerId, 'production'), production)))
  const euros = { currency: 'EUR', amount: '500', idempotencyKey: 'wire-2' }
  const requested = await world.run(deposit(ANNA, DEMO, euros))
  if (requested.ok || !('approvalRequest' in requested)) throw new Error('it was not requested')
  const callers = createCallers(OPERATORS, world.clock)
  const links = { callers, findings: NO_FINDINGS, isCluster: false }
  viewOf(await world.run(approveRequest(BERT, requested.approvalRequest, links)))
  await takeBack(world)
  const offer = { sell_currency: 'USD', sell_amount: '100000', buy_currency: 'VND' }
  const quote = viewOf<{ id: string }>(await world.run(createFxQuote(DEMO, offer)))
  const conversion = { quote_id: quote.id, idempotency_key: 'convert-1' }
  viewOf(await world.run(createFxConversion(DEMO, conversion)))
  await world.run(createFxQuote(DEMO, offer))
}

/** A deposit with two corrections, a smaller one without, and two withdrawals. */
async function takeBack(world: World): Promise<void> {
  const credit = async (amount: string): Promise<string> => {
    const request = { currency: 'THB', amount, idempotencyKey: `wire-${amount}` }
    const answer = await world.run(deposit(ANNA, DEMO, request))
    return viewOf<{ deposit_id: string }>(answer).deposit_id
  }
  await credit('300')
  const id = await credit('500')
  for (const idempotencyKey of ['back-1', 'back-2']) {
    const some = { currency: 'THB', amount: '200', evidence: EVIDENCE, idempotencyKey }
    viewOf(await world.run(correctDeposit(ANNA, DEMO, id, some)))
    const dollars = { ...some, currency: 'USD', amount: '40000' }
    viewOf(await world.run(withdraw(ANNA, DEMO, dollars)))
  }
}

/** Empties the write-ahead log: the file alone is the database. */
async function writeBack(file: string): Promise<void> {
  const database = await openDatabase(file)
  await database.all('PRAGMA wal_checkpoint(TRUNCATE)')
  await database.close()
}

async function makePayouts(world: World, bank: SandboxRail): Promise<SmallBooks['payouts']> {
  let keys = 0
  const pay = async (account: string, given = {}): Promise<PayoutId> => {
    const beneficiary = { ...aPayout().beneficiary!, account_number: account }
    const request = aPayout({ idempotency_key: `payout-${++keys}`, beneficiary, ...given })
    const { id } = viewOf<{ id: PayoutId }>(await world.run(createPayout(DEMO, request)))
    await bank.settle()
    world.clock.pass(1_000)
    return id
  }
  viewOf(await world.run(setBalanceAlert(ANNA, DEMO, 'VND', '990000000')))
  const stored = viewOf<{ id: string }>(
    await world.run(createBeneficiary(DEMO, aPayout().beneficiary!)),
  )
  const { beneficiary: _none, ...toStored } = aPayout({ beneficiary_id: stored.id })
  const completed = viewOf<{ id: PayoutId }>(await world.run(createPayout(DEMO, toStored))).id
  const failed = await pay('9990000001')
  const reversed = await pay('0123450000')
  world.railInstructions.push({ kind: 'simulate', id: reversed, outcome: 'reversed' })
  await bank.settle()
  const processing = await pay('9990000008')
  await contradict(world, processing)
  const byHand = await pay('9990000008')
  viewOf(await world.run(resolvePayout(ANNA, byHand, { outcome: 'completed', evidence: EVIDENCE })))
  const review = { reference: 'sandbox:review' }
  const [forgotten, approved] = [await pay('0123451111', review), await pay('0123454444', review)]
  viewOf(await world.run(approvePayout(ANNA, approved)))
  await bank.settle()
  world.clock.pass(259_200_000)
  await world.fireTimers()
  await bank.settle()
  const held = await pay('0123452222', review)
  world.setRail(false)
  const notSubmitted = await pay('0123453333')
  world.setRail(true)
  return {
    completed,
    failed,
    reversed,
    processing,
    held,
    approved,
    forgotten,
    byHand,
    notSubmitted,
  }
}

/**
 * Contradictory reports about one payout: one discrepancy stays open, the others are settled, each
 * in its own way. A return without an execution makes two discrepancies.
 */
async function contradict(world: World, id: PayoutId): Promise<void> {
  const content = { id, currency: 'VND', transactionId: 'TX', destinationAccount: '9990000008' }
  const reports = [
    { status: 'executed', amount: 7n, ways: ['undo'] },
    { status: 'executed', amount: 8n, ways: [] },
    { status: 'executed', amount: 9n, ways: ['charge_partner'] },
    { status: 'executed', amount: 10n, ways: ['write_off'] },
    { status: 'returned', amount: 11n, ways: ['keep', 'credit_partner'] },
    { status: 'returned', amount: 12n, ways: ['undo', 'write_off'] },
  ] as const
  for (const { status, amount, ways } of reports) {
    const before = world.memory().discrepancyIds.size
    await world.railReports({ status, reportId: null, amount, ...content })
    const ids = [...world.memory().discrepancyIds].slice(before)
    for (const [index, settlement] of ways.entries()) {
      world.clock.pass(1_000)
      const resolution = { settlement, evidence: EVIDENCE }
      viewOf(await world.run(resolveDiscrepancy(ANNA, ids[index]!, resolution)))
    }
  }
  world.clock.pass(1_000)
}

async function makeIntents(world: World, bank: SandboxRail): Promise<SmallBooks['intents']> {
  let amount = 36_000
  const create = async (userId = 'user "ü" 1'): Promise<IntentId> => {
    const request = anIntent({ partner_user_id: userId, idempotency_key: `intent-${++amount}` })
    const view = viewOf<{ intent_id: IntentId }>(await world.run(createIntent(DEMO, request)))
    world.clock.pass(1_000)
    return view.intent_id
  }
  const scan = async (id: IntentId): Promise<IntentId> => {
    const qr = { qr_payload: promptPayQr(), local_amount_minor_units: String(++amount) }
    const request = { intent_id: id, session_jti: 'token', duplicate_confirmed: false, ...qr }
    viewOf(await world.run(scanIntent(DEMO, request, world.clock.now())))
    return id
  }
  const confirm = async (userId?: string): Promise<IntentId> => {
    const id = await scan(await create(userId))
    const request = { intent_id: id, session_jti: 'token', idempotency_key: `confirm-${id}` }
    viewOf(await world.run(confirmIntent(DEMO, request, world.clock.now())))
    await bank.settle()
    return id
  }

  const [expired, cancelled] = [await scan(await create()), await create()]
  await world.run(cancelIntent(DEMO, cancelled))
  const captured = await confirm()
  const refunded = await confirm()
  await world.run(refundIntent(DEMO, refunded, 'refund-1'))
  await bank.settle()
  const refundFailed = await confirm()
  for (const key of ['refund-2', 'refund-3']) {
    viewOf(await world.run(refundIntent(DEMO, refundFailed, key)))
    world.railInstructions.length = 0 // the bank refuses both
    world.clock.pass(1_000)
    await world.railReports({ status: 'recall_refused', id: refundFailed, reportId: null })
  }
  const failed = await confirm('maria+fail')
  world.setRail(false)
  const [cancelledLate, tooLate] = [await confirm(), await confirm()]
  await world.run(cancelIntent(DEMO, cancelledLate))
  world.clock.pass(1_800_000)
  await world.fireTimers()
  const notSubmitted = await confirm()
  world.setRail(true)
  const authorized = await confirm('maria+unknown')
  const byHand = await confirm('maria+unknown')
  const found = { outcome: 'captured', evidence: EVIDENCE }
  viewOf(await world.run(resolveIntent(ANNA, byHand, found)))
  const created = await scan(await create())
  return {
    created,
    authorized,
    notSubmitted,
    captured,
    refunded,
    refundFailed,
    failed,
    tooLate,
    expired,
    cancelled,
    cancelledLate,
    byHand,
  }
}

/**
 * The webhook pool's part: of the last two events one is dead and one waits, all others arrived.
 */
async function deliver(world: World, file: string, endpointId: EndpointId): Promise<void> {
  const store = await openWebhookStore(file, NO_REPORTS)
  const notSubscribed = ['payment_intent.authorized', 'webhook_endpoint.disabled']
  const published = world.events.filter(({ type }) => !notSubscribed.includes(type))
  const settled = published.slice(0, -1)
  for (const event of world.events) {
    const row = { ...event, id: event.id as EventId, receivedAt: event.createdAt }
    await store.commit({ events: [row] })
    if (!published.includes(event)) continue
    const outcome = event === published.at(-1) ? 503 : event === published.at(-2) ? 404 : 200
    await store.commit(delivery(event, endpointId, outcome))
  }
  const ids = settled.map(({ id }) => id as EventId)
  world.clock.pass(1_000)
  await world.run(settleEvents(ids))
  await store.commit({ reported: ids })
  await store.close()
}

function delivery(
  event: StoredEvent,
  endpointId: EndpointId,
  status: 200 | 404 | 503,
): { deliveries: DeliveryRow[]; attempts: AttemptRow[] } {
  const at = event.createdAt
  const id = newId<DeliveryId>('delivery', at, systemRandom())
  const state = status === 200 ? 'delivered' : status === 404 ? 'dead' : 'waiting'
  const context: DeliveryContext = {
    ...newDelivery(at),
    tries: 1,
    attempts: status === 503 ? 1 : 0,
    dueAt: status === 503 ? instant(at + 5_000) : null,
    endedAt: status === 503 ? null : at,
  }
  const attempt = { number: 1, at, status, reason: '', latencyMs: 3, reply: '' }
  return {
    deliveries: [{ id, eventId: event.id as EventId, endpointId, state, context }],
    attempts: [{ deliveryId: id, ...attempt }],
  }
}

/** A clock later than every event in the books. */
export function clockAfter({ world }: SmallBooks): Clock {
  return { now: () => instant(world.clock.now() + 1) }
}

const BOOK_FILES = ['processor.db', 'rail.db', 'webhooks.db'] as const
const SECOND_POOL = 'webhooks-2.db'
export type BookFile = (typeof BOOK_FILES)[number] | typeof SECOND_POOL

/** A copy to corrupt. */
export function copyBooks({ folder }: SmallBooks, to: string): void {
  for (const file of [...BOOK_FILES, 'rail.key']) cpSync(join(folder, file), join(to, file))
}

/** A copy with two pools: of three events each has one of its own, and both have the third. */
export async function copySharedBooks(small: SmallBooks, to: string): Promise<void> {
  copyBooks(small, to)
  cpSync(join(to, 'webhooks.db'), join(to, SECOND_POOL))
  for (const [index, file] of ['webhooks.db', SECOND_POOL].entries()) {
    const pool = await openDatabase(join(to, file))
    await pool.run('DELETE FROM events WHERE position % 3 = ?', [index])
    await pool.close()
  }
}
