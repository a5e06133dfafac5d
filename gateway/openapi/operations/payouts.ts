/** Beneficiaries and payouts in the OpenAPI document. */
import { checkPage, checkPayouts } from '../../../src/requests/lists.js'
import { checkBeneficiary, checkCreatePayout } from '../../../src/requests/payouts.js'
import type { Operations } from '../operation.js'

export const PAYOUT_OPERATIONS: Operations = {
  'POST /v1/beneficiaries': {
    id: 'createBeneficiary',
    tag: 'Beneficiaries',
    summary: 'Create a beneficiary',
    description: 'Stores a bank account to pay out to. Each call creates one.',
    body: { name: 'BeneficiaryRequest', schema: checkBeneficiary.schema },
    answer: 'Beneficiary',
    answerText: 'The beneficiary.',
    errors: ['invalid_beneficiary', 'partner_suspended'],
  },
  'GET /v1/beneficiaries': {
    id: 'listBeneficiaries',
    tag: 'Beneficiaries',
    summary: 'List beneficiaries',
    description: 'Lists beneficiaries, newest first, including disabled ones.',
    query: checkPage.schema,
    answer: 'BeneficiaryPage',
    answerText: 'A page of beneficiaries.',
    errors: [],
  },
  'GET /v1/beneficiaries/{beneficiary_id}': {
    id: 'getBeneficiary',
    tag: 'Beneficiaries',
    summary: 'Get a beneficiary',
    description: 'Returns the beneficiary, also when it is disabled.',
    answer: 'Beneficiary',
    answerText: 'The beneficiary.',
    errors: ['beneficiary_not_found'],
  },
  'POST /v1/beneficiaries/{beneficiary_id}/disable': {
    id: 'disableBeneficiary',
    tag: 'Beneficiaries',
    summary: 'Disable a beneficiary',
    description:
      'Closes the beneficiary to new payouts, permanently. Payouts in progress continue.',
    answer: 'Beneficiary',
    answerText: 'The disabled beneficiary.',
    errors: ['beneficiary_not_found'],
  },
  'POST /v1/payouts': {
    id: 'createPayout',
    tag: 'Payouts',
    summary: 'Create a payout',
    description:
      'Reserves `total` from your balance in the same currency and pays the beneficiary. Name ' +
      'one by `beneficiary_id`, or send one inline: exactly one of the two. A rejected payout ' +
      'leaves no trace and does not use up the key. An accepted one keeps its fees, amounts and ' +
      'account.\n\nThe same `Idempotency-Key` with the same body returns the original payout ' +
      'with status 200 and `Idempotent-Replayed: true`.',
    body: { name: 'CreatePayoutRequest', schema: checkCreatePayout.schema },
    keyRequired: true,
    answer: 'Payout',
    answerText: 'The payout: 202 when it is new, 200 when it is a replay.',
    errors: [
      'invalid_beneficiary',
      'partner_suspended',
      'unsupported_currency',
      'unsupported_destination',
      'payout_limit_exceeded',
      'compliance_rejected',
      'risk_rejected',
      'insufficient_balance',
      'rail_unavailable',
      'duplicate_payout',
    ],
  },
  'GET /v1/payouts': {
    id: 'listPayouts',
    tag: 'Payouts',
    summary: 'List payouts',
    description: 'Lists payouts, newest first. Filters combine.',
    query: checkPayouts.schema,
    answer: 'PayoutPage',
    answerText: 'A page of payouts.',
    errors: [],
  },
  'GET /v1/payouts/{payout_id}': {
    id: 'getPayout',
    tag: 'Payouts',
    summary: 'Get a payout',
    description: 'Returns the current payout.',
    answer: 'Payout',
    answerText: 'The current payout.',
    errors: ['payout_not_found'],
  },
  'POST /v1/payouts/{payout_id}/cancel': {
    id: 'cancelPayout',
    tag: 'Payouts',
    summary: 'Cancel a payout',
    description: 'Payouts cannot be cancelled: the answer is always 409 `payout_not_cancelable`.',
    answer: null,
    answerText: '',
    errors: ['payout_not_found', 'payout_not_cancelable'],
  },
}
