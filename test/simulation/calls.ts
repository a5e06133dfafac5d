/**
 * Single calls of partners, payers and operators, and the checks of each response.
 *
 * Does not own: the choice of the next call (workload), the record of responses (client_oracle).
 */
import assert from 'node:assert/strict'
import type { Instant } from '../../src/base/clock.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import { refundIntent } from '../../src/processor/commands/intents/intent_refund.js'
import { remintSession } from '../../src/processor/commands/intents/intent_remint.js'
import { scanIntent } from '../../src/processor/commands/intents/intent_scan.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { getPayout } from '../../src/processor/commands/payouts/payout_get.js'
import { resolvePayout } from '../../src/processor/commands/payouts/payout_resolve.js'
import { approvePayout, rejectPayout } from '../../src/processor/commands/payouts/payout_review.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { thai, vietnamese } from '../qr/payloads.js'
import { DEMO } from '../support/world.js'
import {
  jtiIn,
  remember,
  see,
  type AnyWish,
  type IntentWish,
  type PayoutWish,
  type View,
} from './client_oracle.js'

/** A call in flight and the check of its response; none arrives when it is lost. */
export interface Call {
  readonly command: Command
  readonly heard: (answer: Answer) => void
}

/** An accepted request, and its entity. */
export type Known<Wish extends AnyWish> = Wish & { readonly id: string }

const OPERATOR = { name: 'ann', reason: 'a simulation' }
const AMOUNTS = ['36000', '36000', '100', '4999999', '5000001'] as const

const call = (command: Command, granted: (view: View) => void = () => undefined): Call => ({
  command,
  heard: (answer) => {
    if (answer.ok) granted(answer.view as View)
  },
})
const shown = (wish: AnyWish) => (view: View) => see(wish, String(view['status']))

/** A first request or a repetition. */
export function askFor(wish: AnyWish): Call {
  wish.asked += 1
  const isTooLate = wish.kind === 'payout' && wish.asked === 1 && wish.to?.disabled === true
  const heard = (answer: Answer): void => {
    const view = remember(wish.creation, answer)
    if (view === null) return
    assert.ok(!isTooLate, 'nothing new goes to a disabled beneficiary')
    wish.id = String(view['intent_id'] ?? view['id'])
    see(wish, String(view['status']))
    if (wish.kind === 'intent') wish.tokens.push(jtiIn(view['session_token']))
  }
  const command =
    wish.kind === 'intent' ? createIntent(DEMO, wish.request) : createPayout(DEMO, wish.request)
  return { command, heard }
}

/** A different request under the key of an accepted one. */
export function misuseKeyOf(wish: AnyWish): Call {
  const command =
    wish.kind === 'intent'
      ? createIntent(DEMO, { ...wish.request, amount_usd_cents: 7 })
      : createPayout(DEMO, { ...wish.request, amount: '7' })
  return { command, heard: (answer) => assert.ok(!answer.ok, 'a bound key takes nothing else') }
}

export function scan(wish: Known<IntentWish>, random: SeededRandom, now: Instant): Call {
  const isThai = wish.request.corridor === 'th_promptpay'
  const request = {
    intent_id: wish.id,
    session_jti: random.pick(wish.tokens),
    qr_payload: isThai ? thai() : vietnamese(),
    duplicate_confirmed: random.once(3),
    local_amount_minor_units: random.pick(AMOUNTS),
  }
  return call(scanIntent(DEMO, request, now), shown(wish))
}

export function confirm(wish: Known<IntentWish>, random: SeededRandom, now: Instant): Call {
  const isKeyed = !random.once(5)
  const request = {
    intent_id: wish.id,
    session_jti: random.pick(wish.tokens),
    ...(isKeyed ? { idempotency_key: 'confirm' } : {}),
  }
  const command = confirmIntent(DEMO, request, now)
  const granted = (): void => {
    if (wish.status === 'created') see(wish, 'authorized')
  }
  if (!isKeyed) return call(command, granted)
  const heard = (answer: Answer): void => {
    if (remember(wish.confirmation, answer) !== null) granted()
  }
  return { command, heard }
}

/** With a key, whose response never changes; or without one, as after a refused recall. */
export function refund(wish: Known<IntentWish>, random: SeededRandom): Call {
  if (wish.refund.answer !== null && random.once(2)) {
    return call(refundIntent(DEMO, wish.id, null), shown(wish))
  }
  return {
    command: refundIntent(DEMO, wish.id, `refund ${wish.id}`),
    heard: (answer) => void remember(wish.refund, answer),
  }
}

export function remint(wish: Known<IntentWish>): Call {
  const { partner_user_id, kyc_attestation, sanctions_attestation } = wish.request
  const request = { intent_id: wish.id, partner_user_id, kyc_attestation, sanctions_attestation }
  return call(remintSession(DEMO, request), (view) => {
    wish.tokens.push(jtiIn(view['session_token']))
  })
}

export const cancel = (wish: Known<IntentWish>): Call =>
  call(cancelIntent(DEMO, wish.id), shown(wish))

export const look = (wish: Known<AnyWish>): Call =>
  call(wish.kind === 'intent' ? getIntent(DEMO, wish.id) : getPayout(DEMO, wish.id), shown(wish))

export function review(wish: Known<PayoutWish>, random: SeededRandom): Call {
  const decide = random.once(3) ? rejectPayout : approvePayout
  return call(decide(OPERATOR, wish.id), shown(wish))
}

export function settle(payoutId: string, random: SeededRandom): Call {
  const word = { outcome: random.pick(['completed', 'failed']), evidence: 'statement' }
  return call(resolvePayout(OPERATOR, payoutId, word))
}
