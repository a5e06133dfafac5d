/**
 * Calls about saved beneficiaries and balances (deposits, FX quotes, conversions), with the checks
 * of their responses.
 *
 * Does not own: the choice of the next call (workload).
 */
import assert from 'node:assert/strict'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { disableBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_disable.js'
import { createFxConversion } from '../../src/processor/commands/funds/fx_conversion_create.js'
import { createFxQuote } from '../../src/processor/commands/funds/fx_quote_create.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { aPayout } from '../support/requests.js'
import { DEMO } from '../support/world.js'
import type { Call } from './calls.js'
import { remember, type Offer, type Remembered, type Saved, type View } from './client_oracle.js'

/** Currency pairs and amounts; the third exceeds the balance. */
const SALES = [
  ['VND', '50000', 'USD'],
  ['USD', '700', 'VND'],
  ['VND', '900000000000000', 'USD'],
] as const

export const deposit = (key: string, made: Remembered): Call => ({
  command: depositSandboxFunds(DEMO, { currency: 'VND', amount: '50000000', idempotency_key: key }),
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

export function ask(random: SeededRandom, offers: Offer[]): Call {
  const [sell, amount, buy] = random.pick(SALES)
  return {
    command: createFxQuote(DEMO, { sell_currency: sell, sell_amount: amount, buy_currency: buy }),
    heard: (answer) => {
      if (!answer.ok) return
      offers.push({ id: String((answer.view as View)['id']), conversion: { answer: null } })
    },
  }
}

/** With its key, first or repeated, or with another key once the quote is used. */
export function take(offer: Offer, random: SeededRandom): Call {
  const isTaken = offer.conversion.answer !== null && random.once(2)
  const key = isTaken ? `again ${offer.id}` : offer.id
  return {
    command: createFxConversion(DEMO, { quote_id: offer.id, idempotency_key: key }),
    heard: (answer) => {
      if (isTaken) assert.ok(!answer.ok, 'an offer is taken once')
      else remember(offer.conversion, answer)
    },
  }
}
