/** Payouts. The view is in actors/payout/view. */
import {
  DESCRIPTION_MAX,
  METADATA_KEY_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_MAX,
  PAYOUT_BODY_MAX_BYTES,
  PAYOUT_IDEMPOTENCY_KEY_MAX,
  REFERENCE_MAX,
} from '../base/constants.js'
import {
  accepted,
  invalid,
  atPointer,
  refused,
  type Outcome,
  type Refusal,
} from '../base/errors.js'
import { accountLast4, checkBeneficiary, type BeneficiaryBody } from './beneficiaries.js'
import { checkOf, preceded, refined } from './checks/check.js'
import { isAllowedName, NAME_RULE, violationAt } from './checks/schema_violation.js'
import { createdListAsJson, created, page, readCreated, type CreatedQuery } from './lists.js'
import { body, noContent, query, type OperationsOf } from './operation.js'
import { objectOf, orNull, pageOf, ref, text, type Schema } from './schema.js'

export interface CreatePayoutBody {
  /** Minor units, a positive int64. */
  readonly amount: string
  readonly currency: string
  readonly beneficiary_id?: string
  /** Checked separately: see `checkBeneficiary`. */
  readonly beneficiary?: unknown
  /** Untrimmed. */
  readonly reference: string
  readonly description?: string
  readonly metadata?: Readonly<Record<string, string>>
}

/** Checked separately, as a fault in it has an error code of its own. */
export const inlineBeneficiary = {}

export const checkCreatePayout = checkOf<CreatePayoutBody>({
  type: 'object',
  additionalProperties: false,
  required: ['amount', 'currency', 'reference'],
  oneOf: [{ required: ['beneficiary_id'] }, { required: ['beneficiary'] }],
  properties: {
    amount: {
      type: 'string',
      format: 'positive-int64',
      description: 'In minor units of `currency`.',
    },
    currency: {
      type: 'string',
      pattern: '^[A-Z]{3}$',
      description: 'ISO 4217: the currency of the beneficiary, and of the balance that pays.',
    },
    beneficiary_id: { type: 'string', description: 'An existing beneficiary.' },
    beneficiary: inlineBeneficiary,
    reference: {
      type: 'string',
      description: '1 to 255 characters after trimming; no control characters.',
    },
    description: { type: 'string', maxLength: DESCRIPTION_MAX, description: 'Your own note.' },
    metadata: {
      type: 'object',
      description: 'Texts of your own by name. Returned, not used.',
      maxProperties: METADATA_PAIRS_MAX,
      propertyNames: { maxLength: METADATA_KEY_MAX },
      additionalProperties: { type: 'string', maxLength: METADATA_VALUE_MAX },
    },
  },
})

/** A checked payout, without its idempotency key. */
export type NewPayout = Omit<CreatePayoutBody, 'beneficiary'> & {
  readonly beneficiary?: BeneficiaryBody
}

/** Before the shape, as a JSON body with such a name is refused while it is read. */
function nameFault(body: unknown): Refusal | null {
  const { metadata } = (body ?? {}) as { readonly metadata?: unknown }
  const badName = Object.keys(metadata ?? {}).find((name) => !isAllowedName(name))
  return badName === undefined
    ? null
    : refused('invalid_request', violationAt(['metadata', badName], NAME_RULE))
}

const checkNamedPayout = preceded(nameFault, checkCreatePayout)

/** Checks the shape of the whole before the beneficiary in it. The reference is trimmed. */
export const readPayout = refined(checkNamedPayout, (body): Outcome<NewPayout> => {
  const { beneficiary: inline, ...plain } = body
  const reference = plain.reference.trim()
  const length = [...reference].length
  if (length < 1 || length > REFERENCE_MAX) {
    return invalid('/reference', `must have 1 to ${REFERENCE_MAX} characters after trimming`)
  }
  const payout = { ...plain, reference, metadata: { ...plain.metadata } }
  if (inline === undefined) return accepted(payout)
  const beneficiary = atPointer('/beneficiary', checkBeneficiary(inline))
  return beneficiary.ok ? accepted({ ...payout, beneficiary: beneficiary.value }) : beneficiary
})

interface PayoutsQuery extends CreatedQuery {
  readonly status?: string
  readonly reference?: string
  readonly beneficiary_id?: string
}

export const PAYOUT_STATUSES = ['created', 'processing', 'completed', 'failed', 'reversed']
const BENEFICIARY_ID_MAX = 128

const checkPayouts = checkOf<PayoutsQuery>({
  type: 'object',
  additionalProperties: false,
  properties: {
    ...page,
    ...created,
    status: { enum: PAYOUT_STATUSES, description: 'Only payouts in this status.' },
    reference: { type: 'string', maxLength: REFERENCE_MAX, description: 'Exact match.' },
    beneficiary_id: {
      type: 'string',
      maxLength: BENEFICIARY_ID_MAX,
      description: 'Exact match.',
    },
  },
})

export const readPayouts = refined(checkPayouts, readCreated)

const reached = (status: string): Schema =>
  orNull(ref('Timestamp'), `When the payout became \`${status}\`; \`null\` until then.`)

export const PAYOUT_ANSWERS: Readonly<Record<string, Schema>> = {
  Payout: objectOf(
    'A payout. Account numbers are never returned.',
    {
      id: text('`pout_…`', { pattern: '^pout_' }),
      status: ref('PayoutStatus'),
      amount: ref('MinorUnits', 'What was requested.'),
      recipient_amount: ref('MinorUnits', 'What the recipient gets.'),
      currency: ref('Currency'),
      fee_details: {
        type: 'object',
        description: "The parts of the fee: the platform's, under the service's name, and `rail`.",
        additionalProperties: ref('MinorUnits'),
        required: ['rail'],
        properties: { rail: ref('MinorUnits') },
      },
      fee: ref('MinorUnits', 'The sum of `fee_details`.'),
      total: ref('MinorUnits', 'What the balance pays: `recipient_amount` plus `fee`.'),
      reference: text('As sent, trimmed.'),
      beneficiary: objectOf('The account as it was when the payout was accepted.', {
        id: text('`ben_…`', { pattern: '^ben_' }),
        name: text('The account holder.'),
        account_last4: accountLast4,
      }),
      rail: objectOf('How it is paid.', {
        type: text('The kind of rail.', { examples: ['bank_transfer'] }),
        transaction_id: {
          type: ['string', 'null'],
          description: "The bank network's id, once known.",
        },
      }),
      metadata: {
        type: 'object',
        description: 'As sent; `{}` when absent.',
        additionalProperties: { type: 'string' },
      },
      created_at: ref('Timestamp'),
      processing_at: reached('processing'),
      completed_at: reached('completed'),
      failed_at: reached('failed'),
      reversed_at: reached('reversed'),
      failure: orNull(ref('Failure'), 'Present once `failed` or `reversed`.'),
    },
    { description: text('As sent; absent when it was not.') },
  ),
  PayoutPage: pageOf('Payout', 'Payouts that fit the filters.'),
}

export const PAYOUTS: OperationsOf<
  'create_payout' | 'list_payouts' | 'get_payout' | 'cancel_payout'
> = {
  create_payout: {
    method: 'POST',
    path: '/v1/payouts',
    auth: 'hmac',
    bodyMaxBytes: PAYOUT_BODY_MAX_BYTES,
    key: { isRequired: true, maxLength: PAYOUT_IDEMPOTENCY_KEY_MAX },
    content: body('CreatePayoutRequest', readPayout, (payout) => payout),
    success: 202,
    replayed: 200,
    rpc: 'Payouts.Create',
    rpcField: 'payout',
    client: 'payouts.create',
    clientBody: 'payout',
    id: 'createPayout',
    tag: 'Payouts',
    summary: 'Create a payout',
    description:
      'Reserves `total` from your balance in the same currency and pays the beneficiary. Name ' +
      'one by `beneficiary_id`, or send one inline: exactly one of the two. A rejected payout ' +
      'leaves no trace and does not use up the key. An accepted one keeps its fees, amounts and ' +
      'account.\n\nThe same `Idempotency-Key` with the same body returns the original payout ' +
      'with status 200 and `Idempotent-Replayed: true`.',
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
  list_payouts: {
    method: 'GET',
    path: '/v1/payouts',
    auth: 'hmac',
    content: query(readPayouts, (list) => list, createdListAsJson),
    success: 200,
    runsOutsideCycle: true,
    rpc: 'Payouts.List',
    rpcField: 'list',
    client: 'payouts.list',
    id: 'listPayouts',
    tag: 'Payouts',
    summary: 'List payouts',
    description: 'Lists payouts, newest first. Filters combine.',
    answer: 'PayoutPage',
    answerText: 'A page of payouts.',
    errors: [],
  },
  get_payout: {
    method: 'GET',
    path: '/v1/payouts/{payout_id}',
    auth: 'hmac',
    content: noContent(({ id }) => ({ payout_id: id })),
    success: 200,
    rpc: 'Payouts.Get',
    client: 'payouts.get',
    id: 'getPayout',
    tag: 'Payouts',
    summary: 'Get a payout',
    description: 'Returns the current payout.',
    answer: 'Payout',
    answerText: 'The current payout.',
    errors: ['payout_not_found'],
  },
  cancel_payout: {
    method: 'POST',
    path: '/v1/payouts/{payout_id}/cancel',
    auth: 'hmac',
    content: noContent(({ id }) => ({ payout_id: id })),
    success: 200,
    rpc: 'Payouts.Cancel',
    client: 'payouts.cancel',
    id: 'cancelPayout',
    tag: 'Payouts',
    summary: 'Cancel a payout',
    description: 'Payouts cannot be cancelled: the answer is always 409 `payout_not_cancelable`.',
    answer: null,
    answerText: '',
    errors: ['payout_not_found', 'payout_not_cancelable'],
  },
}
