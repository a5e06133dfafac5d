/**
 * Random calls on payouts, conversions, discrepancies, deposits and approvals: the product and the
 * model answer and change the same, with warm actors and with rebuilt ones.
 */
import t from 'tap'
import { runBooks } from './run.js'

const FIRST = 20_261_125
const STEPS = 150
/** Each must be answered by some seed. */
const REQUIRED = [
  ...['ok', 'time passes', 'second_operator_required', 'approver_is_requester'],
  ...['approval_request_decided', 'approval_request_expired', 'duplicate_payout'],
  ...['insufficient_balance', 'payout_not_held', 'payout_not_at_rail', 'payout_not_completed'],
  ...['idempotency_conflict', 'quote_expired', 'invalid_request'],
  ...['discrepancy_settled', 'settlement_not_possible'],
]

t.setTimeout(0)
const total = new Map<string, number>()

for (const [index, isRebuilt] of [false, false, false, false, false, false, true, true].entries()) {
  t.test(`seed ${FIRST + index}${isRebuilt ? ', rebuilt' : ''}`, async (t) => {
    const counts = await runBooks(t, { seed: FIRST + index, steps: STEPS, isRebuilt })
    for (const [code, times] of counts) total.set(code, (total.get(code) ?? 0) + times)
  })
}

t.test('every outcome has occurred', async (t) => {
  for (const code of REQUIRED) t.ok((total.get(code) ?? 0) > 0, code)
  t.comment(JSON.stringify(Object.fromEntries(total)))
})
