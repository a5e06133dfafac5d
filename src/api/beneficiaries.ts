/**
 * Beneficiaries: bank accounts to pay out to.
 *
 * - A fault in a beneficiary has an error code of its own, also inside a payout, so it has a schema
 *   of its own.
 */
import { ACCOUNT_NUMBER, BANK_CODE_MAX, BENEFICIARY_NAME_MAX } from '../base/constants.js'
import { checkOf } from './checks/check.js'
import { pageAsJson, readPage } from './lists.js'
import { body, noContent, query, type OperationsOf } from './operation.js'
import { objectOf, pageOf, ref, text, type Schema } from './schema.js'

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

/** The last four characters of an account number, in beneficiaries and payouts. */
export const accountLast4 = text('The last four characters of the account number.', {
  examples: ['4567'],
})

export const BENEFICIARY_ANSWERS: Readonly<Record<string, Schema>> = {
  Beneficiary: objectOf('A bank account to pay out to.', {
    id: text('`ben_…`', { pattern: '^ben_' }),
    type: text('The only type.', { const: 'bank_account' }),
    name: text('The account holder.'),
    destination_country: text('ISO 3166, two capital letters.', { pattern: '^[A-Z]{2}$' }),
    currency: ref('Currency'),
    bank_code: text("As used by the country's banks."),
    account_last4: accountLast4,
    status: text('A disabled beneficiary takes no new payouts.', { enum: ['active', 'disabled'] }),
    created_at: ref('Timestamp'),
  }),
  BeneficiaryPage: pageOf('Beneficiary', 'Beneficiaries, including disabled ones.'),
}

export const BENEFICIARIES: OperationsOf<
  'create_beneficiary' | 'list_beneficiaries' | 'get_beneficiary' | 'disable_beneficiary'
> = {
  create_beneficiary: {
    method: 'POST',
    path: '/v1/beneficiaries',
    auth: 'hmac',
    content: body('BeneficiaryRequest', checkBeneficiary, (beneficiary) => ({ beneficiary }), {
      asJson: ({ beneficiary }) => beneficiary ?? {},
    }),
    success: 201,
    rpc: 'Beneficiaries.Create',
    rpcField: 'beneficiary',
    isRpcFieldMember: true,
    client: 'beneficiaries.create',
    clientBody: 'beneficiary',
    id: 'createBeneficiary',
    tag: 'Beneficiaries',
    summary: 'Create a beneficiary',
    description: 'Stores a bank account to pay out to. Each call creates one.',
    answer: 'Beneficiary',
    answerText: 'The beneficiary.',
    errors: ['invalid_beneficiary', 'partner_suspended'],
  },
  list_beneficiaries: {
    method: 'GET',
    path: '/v1/beneficiaries',
    auth: 'hmac',
    content: query(readPage, (list) => list, pageAsJson),
    success: 200,
    runsOutsideCycle: true,
    rpc: 'Beneficiaries.List',
    rpcField: 'list',
    client: 'beneficiaries.list',
    id: 'listBeneficiaries',
    tag: 'Beneficiaries',
    summary: 'List beneficiaries',
    description: 'Lists beneficiaries, newest first, including disabled ones.',
    answer: 'BeneficiaryPage',
    answerText: 'A page of beneficiaries.',
    errors: [],
  },
  get_beneficiary: {
    method: 'GET',
    path: '/v1/beneficiaries/{beneficiary_id}',
    auth: 'hmac',
    content: noContent(({ id }) => ({ beneficiary_id: id })),
    success: 200,
    rpc: 'Beneficiaries.Get',
    client: 'beneficiaries.get',
    id: 'getBeneficiary',
    tag: 'Beneficiaries',
    summary: 'Get a beneficiary',
    description: 'Returns the beneficiary, also when it is disabled.',
    answer: 'Beneficiary',
    answerText: 'The beneficiary.',
    errors: ['beneficiary_not_found'],
  },
  disable_beneficiary: {
    method: 'POST',
    path: '/v1/beneficiaries/{beneficiary_id}/disable',
    auth: 'hmac',
    content: noContent(({ id }) => ({ beneficiary_id: id })),
    success: 200,
    recordedEntity: 'beneficiary_id',
    rpc: 'Beneficiaries.Disable',
    client: 'beneficiaries.disable',
    isRepeatable: true,
    id: 'disableBeneficiary',
    tag: 'Beneficiaries',
    summary: 'Disable a beneficiary',
    description:
      'Closes the beneficiary to new payouts, permanently. Payouts in progress continue.',
    answer: 'Beneficiary',
    answerText: 'The disabled beneficiary.',
    errors: ['beneficiary_not_found'],
  },
}
