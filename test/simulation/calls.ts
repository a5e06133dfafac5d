/**
 * Single calls of partners, payers and operators, and the checks of each response.
 *
 * Does not own: the choice of the next call (workload), the record of responses (client_oracle).
 */
import assert from 'node:assert/strict'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import { refundIntent } from '../../src/processor/commands/intents/intent_refund.js'
import { remintSession } from '../../src/processor/commands/intents/intent_remint.js'
import { resolveIntent } from '../../src/processor/commands/intents/intent_resolve.js'
import { scanIntent } from '../../src/processor/commands/intents/intent_scan.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { getPayout } from '../../src/processor/commands/payouts/payout_get.js'
import { resolvePayout } from '../../src/processor/commands/payouts/payout_resolve.js'
import { approvePayout, rejectPayout } from '../../src/processor/commands/payouts/payout_review.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { thai, vietnamese } from '../qr/payloads.js'
import { sessionOf } from '../support/requests.js'
import { DEMO } from '../support/world.js'
import {
  jtiIn,
  recordAnswer,
  recordStatus,
  type AnyRecord,
  type IntentRecord,
  type PayoutRecord,
  type View,
} from './client_oracle.js'
import type { CommandAt, OnAnswer } from './processors.js'

/** A call in flight and the check of its response; none arrives when it is lost. */
export interface SimulatedCall {
  readonly commandAt: CommandAt
  readonly onAnswer: OnAnswer
  /** By bearer token: without a nonce. */
  readonly isBearer?: boolean
}

/** An accepted request, and its entity. */
export type Accepted<RequestRecord extends AnyRecord> = RequestRecord & { readonly id: string }

const OPERATOR = { name: 'ann', reason: 'a simulation' }
const AMOUNTS = ['36000', '36000', '100', '4999999', '5000001'] as const

type OnAccepted = (view: View, isLate: boolean) => void

const call = (commandAt: CommandAt, onAccepted: OnAccepted = () => undefined): SimulatedCall => ({
  commandAt,
  onAnswer: (answer, isLate) => {
    if (answer.ok) onAccepted(answer.view as View, isLate)
  },
})
const updateStatus = (record: AnyRecord): OnAccepted => {
  const floor = record.status
  return (view, isLate) => show(record, String(view['status']), floor, isLate)
}
const show = (record: AnyRecord, status: string, floor: string | null, isLate: boolean): void =>
  recordStatus(record, status, isLate ? floor : record.status)

/** A first request or a repetition. */
export function sendRequest(record: AnyRecord): SimulatedCall {
  record.sent += 1
  const isToDisabled = record.kind === 'payout' && record.sent === 1 && record.to?.disabled === true
  const floor = record.status
  const onAnswer: OnAnswer = (answer, isLate) => {
    const view = recordAnswer(record.creation, answer, isLate)
    if (view === null) return
    assert.ok(!isToDisabled, 'a disabled beneficiary gets no new payout')
    record.id = String(view['intent_id'] ?? view['id'])
    show(record, String(view['status']), floor, isLate)
    if (record.kind === 'intent') record.tokens.push(jtiIn(view['session_token']))
  }
  const command =
    record.kind === 'intent'
      ? createIntent(DEMO, record.request)
      : createPayout(DEMO, record.request)
  return { commandAt: () => command, onAnswer }
}

/** A different request under the key of an accepted one. */
export function reuseKeyOf(record: AnyRecord): SimulatedCall {
  const command =
    record.kind === 'intent'
      ? createIntent(DEMO, { ...record.request, amount_usd_cents: 7 })
      : createPayout(DEMO, { ...record.request, amount: '7' })
  return {
    commandAt: () => command,
    onAnswer: (answer) => assert.ok(!answer.ok, 'a key accepts no other request'),
  }
}

export function scan(record: Accepted<IntentRecord>, random: SeededRandom): SimulatedCall {
  const isThai = record.request.corridor === 'th_promptpay'
  const request = {
    intent_id: record.id,
    session_jti: random.pick(record.tokens),
    qr_payload: isThai ? thai() : vietnamese(),
    duplicate_confirmed: random.once(3),
    // Sometimes the user pays something else instead.
    local_amount_minor_units:
      record.scanAgain === null || random.once(6) ? random.pick(AMOUNTS) : record.scanAgain.amount,
  }
  const onScanned = updateStatus(record)
  return call(
    (now) => scanIntent(DEMO, request, now),
    (view, isLate) => {
      if (record.scanAgain !== null) record.scanAgain.isDone = true
      onScanned(view, isLate)
    },
  )
}

export function confirm(record: Accepted<IntentRecord>, random: SeededRandom): SimulatedCall {
  if (record.scanAgain?.isDone === false) return scan(record, random)
  const isKeyed = !random.once(5)
  const request = {
    intent_id: record.id,
    session_jti: random.pick(record.tokens),
    ...(isKeyed ? { idempotency_key: 'confirm' } : {}),
  }
  const commandAt: CommandAt = (now) => confirmIntent(DEMO, request, now)
  const onAccepted = (): void => {
    if (record.status === 'created') recordStatus(record, 'authorized')
  }
  if (!isKeyed) return call(commandAt, onAccepted)
  const onAnswer: OnAnswer = (answer, isLate) => {
    if (recordAnswer(record.confirmation, answer, isLate) !== null) onAccepted()
  }
  return { commandAt, onAnswer }
}

/** With a key, its response never changes; without one it can, as after a refused recall. */
export function refund(record: Accepted<IntentRecord>, random: SeededRandom): SimulatedCall {
  if (record.refund.answer !== null && random.once(2)) {
    return call(() => refundIntent(DEMO, record.id, null), updateStatus(record))
  }
  return {
    commandAt: () => refundIntent(DEMO, record.id, `refund ${record.id}`),
    onAnswer: (answer, isLate) => void recordAnswer(record.refund, answer, isLate),
  }
}

export const remint = (record: Accepted<IntentRecord>): SimulatedCall =>
  call(
    () => remintSession(DEMO, { intent_id: record.id, ...sessionOf(record.request) }),
    (view) => void record.tokens.push(jtiIn(view['session_token'])),
  )

export const cancel = (record: Accepted<IntentRecord>): SimulatedCall =>
  call(() => cancelIntent(DEMO, record.id), updateStatus(record))

/** By the partner, or by bearer token. */
export const read = (record: Accepted<AnyRecord>, random: SeededRandom): SimulatedCall => ({
  ...call(
    () => (record.kind === 'intent' ? getIntent(DEMO, record.id) : getPayout(DEMO, record.id)),
    updateStatus(record),
  ),
  isBearer: random.once(2),
})

export function review(record: Accepted<PayoutRecord>, random: SeededRandom): SimulatedCall {
  const decide = random.once(3) ? rejectPayout : approvePayout
  return call(() => decide(OPERATOR, record.id), updateStatus(record))
}

export const endRecall = (intentId: string): SimulatedCall =>
  call(() => resolveIntent(OPERATOR, intentId, { outcome: 'refund_failed', evidence: 'statement' }))

export function settle(payoutId: string, random: SeededRandom): SimulatedCall {
  const resolution = { outcome: random.pick(['completed', 'failed']), evidence: 'statement' }
  return call(() => resolvePayout(OPERATOR, payoutId, resolution))
}
