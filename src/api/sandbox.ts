/** Tools of the sandbox, and the document itself. */
import { BODY_MAX_BYTES } from '../base/constants.js'
import { checkOf } from './checks/check.js'
import { body, type LocalName, type LocalOperation, type OperationsOf } from './operation.js'
import { listOf, objectOf, ref, text, type Schema } from './schema.js'

/** A described signature. Malformed values pass: reporting them is the purpose of the check. */
export interface SignatureCheckBody {
  readonly method: string
  readonly path: string
  readonly key_id: string
  readonly timestamp: string
  readonly nonce: string
  readonly signature: string
  /** The body, its hash, or both; neither: no body. */
  readonly body?: string
  readonly body_sha256?: string
}

export const checkSignatureCheck = checkOf<SignatureCheckBody>({
  type: 'object',
  additionalProperties: false,
  required: ['method', 'path', 'key_id', 'timestamp', 'nonce', 'signature'],
  properties: {
    method: { type: 'string', pattern: '^[A-Z]{1,16}$', description: 'As signed.' },
    path: { type: 'string', pattern: '^/', description: 'As signed; a query is cut.' },
    key_id: { type: 'string', description: 'Your key id.' },
    timestamp: { type: 'string', description: 'As in its header.' },
    nonce: { type: 'string', description: 'As in its header.' },
    signature: { type: 'string', description: 'As in its header.' },
    body: { type: 'string', maxLength: BODY_MAX_BYTES, description: 'The body as text.' },
    body_sha256: {
      type: 'string',
      pattern: '^([0-9a-f]{64})?$',
      description: 'The hash that you signed; empty without a body.',
    },
  },
})

/** A described request. Malformed headers and bodies pass: reporting them is the purpose. */
export interface RequestCheckBody {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export const checkRequestCheck = checkOf<RequestCheckBody>({
  type: 'object',
  additionalProperties: false,
  required: ['method', 'path'],
  properties: {
    method: { type: 'string', pattern: '^[A-Z]{1,16}$', description: 'As sent.' },
    path: { type: 'string', pattern: '^/', description: 'As sent, with the query.' },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'By name: signature or `Authorization`, and `Idempotency-Key`.',
    },
    body: { type: 'string', maxLength: BODY_MAX_BYTES, description: 'The body as text.' },
  },
})

const OUTCOMES = ['completed', 'failed', 'reversed'] as const

export interface SimulatePayoutBody {
  readonly outcome: (typeof OUTCOMES)[number]
}

export const checkSimulatePayout = checkOf<SimulatePayoutBody>({
  type: 'object',
  additionalProperties: false,
  required: ['outcome'],
  properties: { outcome: { enum: OUTCOMES, description: 'What the sandbox bank reports.' } },
})

const CHECKS = listOf(ref('RequestCheck'), 'In their order.')
const CANONICAL_REQUEST: Schema = {
  type: ['string', 'null'],
  description: 'The text that the service signs; `null` while a part is missing.',
}
const BODY_SHA256 = text('Lower-case hex; empty without a body.')

export const SANDBOX_ANSWERS: Readonly<Record<string, Schema>> = {
  RequestCheck: objectOf(
    'One check of a request or its signature.',
    {
      check: text('Name of the check.'),
      result: text('`not_made`: it depends on a failed check.', {
        enum: ['passed', 'failed', 'not_made'],
      }),
    },
    { help: text('Only for failed checks.') },
  ),
  SignatureReport: objectOf('Which checks a signature passes.', {
    valid: { type: 'boolean', description: 'All checks passed. Nonces are not looked up.' },
    checks: CHECKS,
    canonical_request: CANONICAL_REQUEST,
    body_sha256: BODY_SHA256,
    server_time: ref('Timestamp'),
  }),
  RequestReport: objectOf('Which checks a request passes.', {
    accepted: {
      type: 'boolean',
      description: 'All checks passed. Nonces, states and balances are not looked up.',
    },
    refusal: {
      description: 'The answer that the request would get; `null` when it is accepted.',
      anyOf: [
        objectOf(
          'A refusal.',
          {
            status: { type: 'integer', description: 'HTTP status.' },
            code: text('Error code.'),
            message: text('As in the sandbox.'),
          },
          {
            pointer: text('The part at fault: a JSON pointer into the body, or `query/limit`.'),
            rule: text('The rule that it breaks.'),
          },
        ),
        { type: 'null' },
      ],
    },
    checks: CHECKS,
    canonical_request: CANONICAL_REQUEST,
    body_sha256: BODY_SHA256,
    server_time: ref('Timestamp'),
  }),
  OpenApiDocument: {
    type: 'object',
    description: 'This document.',
    required: ['openapi', 'info', 'paths', 'components'],
    properties: {
      openapi: text('Version of the OpenAPI Specification.'),
      info: { type: 'object', description: 'Title and version.', additionalProperties: true },
      paths: { type: 'object', description: 'Operations.', additionalProperties: true },
      components: { type: 'object', description: 'Schemas.', additionalProperties: true },
    },
    additionalProperties: true,
  },
}

export const SANDBOX: OperationsOf<'simulate_payout'> = {
  simulate_payout: {
    method: 'POST',
    path: '/v1/sandbox/payouts/{payout_id}/simulate',
    auth: 'hmac',
    content: body('SimulatePayoutRequest', checkSimulatePayout, ({ outcome }, { id }) => ({
      payout_id: id,
      outcome,
    })),
    success: 202,
    recordedEntity: 'payout_id',
    rpc: 'Payouts.Simulate',
    rpcField: 'simulation',
    client: 'sandbox.simulatePayout',
    id: 'simulatePayout',
    tag: 'Sandbox',
    summary: 'Simulate the outcome of a payout',
    description:
      'Makes the sandbox bank report an outcome of a payout. Sandbox only: production answers 400.',
    answer: 'Payout',
    answerText: 'The payout before the outcome, which follows.',
    errors: ['payout_not_found', 'outcome_not_possible', 'rail_unavailable'],
  },
}

export const LOCAL: Readonly<Record<LocalName, LocalOperation>> = {
  check_signature: {
    method: 'POST',
    path: '/v1/sandbox/signature/check',
    body: { name: 'CheckSignatureRequest', schema: checkSignatureCheck.schema, isRequired: false },
    noRpc: 'no signatures',
    client: 'sandbox.checkSignature',
    id: 'checkSignature',
    tag: 'Sandbox',
    summary: 'Check a signature',
    description:
      'Reports which check of a signature fails. Sign this request as any other, and it is ' +
      'checked as it arrived; or describe a signature in the body, without signature headers. It ' +
      'consumes no nonce. Sandbox only: production answers 400.',
    answer: 'SignatureReport',
    answerText: 'Which checks pass.',
    errors: [],
  },
  check_request: {
    method: 'POST',
    path: '/v1/sandbox/request/check',
    body: { name: 'CheckRequestRequest', schema: checkRequestCheck.schema, isRequired: true },
    noRpc: 'no signatures',
    client: 'sandbox.checkRequest',
    id: 'checkRequest',
    tag: 'Sandbox',
    summary: 'Check a request',
    description:
      'Reports which check of a described request fails, up to the shape of its body. It changes ' +
      'nothing and consumes no nonce. Sandbox only: production answers 400.',
    answer: 'RequestReport',
    answerText: 'Which checks pass, and the answer that the request would get.',
    errors: [],
  },
  get_openapi_document: {
    method: 'GET',
    path: '/openapi.json',
    noRpc: 'reflection',
    client: null,
    id: 'getOpenApiDocument',
    tag: 'Contract',
    summary: 'Get this document',
    description:
      'Returns the OpenAPI document of this API. It is the same on every host. It is compressed ' +
      'with gzip where `Accept-Encoding` names it, and 304 where `If-None-Match` names its `ETag`.',
    answer: 'OpenApiDocument',
    answerText: 'The document.',
    errors: [],
  },
}
