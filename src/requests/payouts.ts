/**
 * Bodies of the beneficiary and payout routes (gateway/README.md, Payouts).
 *
 * A fault inside a beneficiary has its own error code on both routes, so the beneficiary has its
 * own schema.
 */
import {
  ACCOUNT_NUMBER,
  BANK_CODE_MAX,
  BENEFICIARY_NAME_MAX,
  DESCRIPTION_MAX,
  METADATA_KEY_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_MAX,
  REFERENCE_MAX,
} from '../base/constants.js'
import { accepted, invalid, placedAt, type Outcome } from '../base/errors.js'
import { checkOf } from './check.js'

export interface BeneficiaryBody {
  readonly type: 'bank_account'
  readonly name: string
  readonly destination_country: string
  readonly currency: string
  readonly account_number: string
  readonly bank_code: string
}

export const checkBeneficiary = checkOf<BeneficiaryBody>(
  {
    type: 'object',
    description: 'A bank account.',
    additionalProperties: false,
    required: ['type', 'name', 'destination_country', 'currency', 'account_number', 'bank_code'],
    properties: {
      type: { const: 'bank_account', description: 'The only type.' },
      name: {
        type: 'string',
        maxLength: BENEFICIARY_NAME_MAX,
        pattern: '\\S',
        description: 'The account holder. No control characters.',
      },
      destination_country: {
        type: 'string',
        pattern: '^[A-Z]{2}$',
        description: 'ISO 3166, two capital letters.',
      },
      currency: {
        type: 'string',
        pattern: '^[A-Z]{3}$',
        description: 'ISO 4217: the currency of the account.',
      },
      account_number: {
        type: 'string',
        pattern: ACCOUNT_NUMBER.source,
        description: 'Letters and digits. Never returned.',
      },
      bank_code: {
        type: 'string',
        maxLength: BANK_CODE_MAX,
        pattern: '\\S',
        description: "As used by the country's banks. No control characters.",
      },
    },
  },
  'invalid_beneficiary',
)

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

/** Checks the shape of the whole before the beneficiary in it. The reference is trimmed. */
export function readPayout(value: unknown): Outcome<NewPayout> {
  const body = checkCreatePayout(value)
  if (!body.ok) return body
  const { beneficiary: inline, ...plain } = body.value
  const reference = plain.reference.trim()
  const length = [...reference].length
  if (length < 1 || length > REFERENCE_MAX) {
    return invalid('/reference', `must have 1 to ${REFERENCE_MAX} characters after trimming`)
  }
  const payout = { ...plain, reference, metadata: { ...plain.metadata } }
  if (inline === undefined) return accepted(payout)
  const beneficiary = placedAt('/beneficiary', checkBeneficiary(inline))
  return beneficiary.ok ? accepted({ ...payout, beneficiary: beneficiary.value }) : beneficiary
}
