/**
 * Calls about saved beneficiaries and about the balances: deposits, offers, conversions.
 *
 * Owns: these calls, what must hold of their answers, and what a partner remembers of them. Does
 * not own: whose turn it is (workload).
 */
import assert from 'node:assert/strict'
import { createBeneficiary } from '../../src/processor/commands/beneficiary_create.js'
import { disableBeneficiary } from '../../src/processor/commands/beneficiary_disable.js'
import { createFxConversion } from '../../src/processor/commands/fx_conversion_create.js'
import { createFxQuote } from '../../src/processor/commands/fx_quote_create.js'
import { depositPlayMoney } from '../../src/processor/commands/sandbox_deposit.js'
import type { Chance } from '../fuzz/chance.js'
import { aPayout } from '../support/requests.js'
import { DEMO } from '../support/world.js'
import type { Call } from './calls.js'
import { remember, type Offer, type Remembered, type Saved, type View } from './knowledge.js'

/** What sells for what; the third of them is more than there is. */
const SALES = [
  ['VND', '50000', 'USD'],
  ['USD', '700', 'VND'],
  ['VND', '900000000000000', 'USD'],
] as const

export const deposit = (key: string, made: Remembered): Call => ({
  command: depositPlayMoney(DEMO, { currency: 'VND', amount: '50000000', idempotency_key: key }),
  heard: (answer) => void remember(made, answer),
})

export const save = (accountNumber: string, saved: Saved[]): Call => ({
  command: createBeneficiary(DEMO, {
    ...aPayout().beneficiary!,
    account_number: accountNumber,
  }),
  heard: (answer) => {
    if (answer.ok) saved.push({ id: String((answer.view as View)['id']), disabled: false })
  },
})

export const disable = (beneficiary: Saved): Call => ({
  command: disableBeneficiary(DEMO, beneficiary.id),
  heard: (answer) => {
    assert.ok(answer.ok || answer.code === 'timeout', 'a saved beneficiary is there')
    beneficiary.disabled ||= answer.ok
  },
})

export function ask(chance: Chance, offers: Offer[]): Call {
  const [sell, amount, buy] = chance.pick(SALES)
  return {
    command: createFxQuote(DEMO, { sell_currency: sell, sell_amount: amount, buy_currency: buy }),
    heard: (answer) => {
      if (!answer.ok) return
      offers.push({ id: String((answer.view as View)['id']), conversion: { answer: null } })
    },
  }
}

/** Under its key for the first time or again, or under another one once it is taken. */
export function take(offer: Offer, chance: Chance): Call {
  const isTaken = offer.conversion.answer !== null && chance.once(2)
  const key = isTaken ? `again ${offer.id}` : offer.id
  return {
    command: createFxConversion(DEMO, { quote_id: offer.id, idempotency_key: key }),
    heard: (answer) => {
      if (isTaken) assert.ok(!answer.ok, 'an offer is taken once')
      else remember(offer.conversion, answer)
    },
  }
}
