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
import { payeeOf } from '../support/requests.js'
import { DEMO } from '../support/world.js'
import type { SimulatedCall } from './calls.js'
import {
  recordAnswer,
  type FxQuote,
  type RecordedAnswer,
  type SavedBeneficiary,
  type View,
} from './client_oracle.js'

/** Currency pairs and amounts; the third exceeds the balance. */
const CONVERSIONS = [
  ['VND', '50000', 'USD'],
  ['USD', '700', 'VND'],
  ['VND', '900000000000000', 'USD'],
] as const

export const deposit = (key: string, made: RecordedAnswer): SimulatedCall => ({
  commandAt: () =>
    depositSandboxFunds(DEMO, { currency: 'VND', amount: '50000000', idempotency_key: key }),
  onAnswer: (answer, isLate) => void recordAnswer(made, answer, isLate),
})

export const save = (accountNumber: string, saved: SavedBeneficiary[]): SimulatedCall => ({
  commandAt: () => createBeneficiary(DEMO, payeeOf(accountNumber)),
  onAnswer: (answer) => {
    if (answer.ok) saved.push({ id: String((answer.view as View)['id']), disabled: false })
  },
})

export const disable = (beneficiary: SavedBeneficiary): SimulatedCall => ({
  commandAt: () => disableBeneficiary(DEMO, beneficiary.id),
  onAnswer: (answer) => {
    assert.ok(answer.ok || answer.code === 'timeout', 'a saved beneficiary exists')
    beneficiary.disabled ||= answer.ok
  },
})

export function requestQuote(random: SeededRandom, quotes: FxQuote[]): SimulatedCall {
  const [sell, amount, buy] = random.pick(CONVERSIONS)
  return {
    commandAt: () =>
      createFxQuote(DEMO, { sell_currency: sell, sell_amount: amount, buy_currency: buy }),
    onAnswer: (answer) => {
      if (!answer.ok) return
      quotes.push({ id: String((answer.view as View)['id']), conversion: { answer: null } })
    },
  }
}

/** With the key of the quote, also repeated; or with another key after the conversion. */
export function convert(quote: FxQuote, random: SeededRandom): SimulatedCall {
  const isReuse = quote.conversion.answer !== null && random.once(2)
  const key = isReuse ? `again ${quote.id}` : quote.id
  return {
    commandAt: () => createFxConversion(DEMO, { quote_id: quote.id, idempotency_key: key }),
    onAnswer: (answer, isLate) => {
      if (isReuse) assert.ok(!answer.ok, 'a quote is converted once')
      else recordAnswer(quote.conversion, answer, isLate)
    },
  }
}
