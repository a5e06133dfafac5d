/** Sandbox tools, and this document, in the OpenAPI document. */
import {
  checkRequestCheck,
  checkSignatureCheck,
  checkSimulatePayout,
} from '../../../src/requests/sandbox.js'
import type { Operations } from '../operation.js'

export const SANDBOX_OPERATIONS: Operations = {
  'POST /v1/sandbox/payouts/{payout_id}/simulate': {
    id: 'simulatePayout',
    tag: 'Sandbox',
    summary: 'Simulate the outcome of a payout',
    description:
      'Makes the sandbox bank report an outcome of a payout. Sandbox only: production answers 400.',
    body: { name: 'SimulatePayoutRequest', schema: checkSimulatePayout.schema },
    answer: 'Payout',
    answerText: 'The payout before the outcome, which follows.',
    errors: ['payout_not_found', 'outcome_not_possible', 'rail_unavailable'],
  },
  'POST /v1/sandbox/signature/check': {
    id: 'checkSignature',
    tag: 'Sandbox',
    summary: 'Check a signature',
    description:
      'Reports which check of a signature fails. Sign this request as any other, and it is ' +
      'checked as it arrived; or describe a signature in the body, without signature headers. It ' +
      'consumes no nonce. Sandbox only: production answers 400.',
    body: { name: 'CheckSignatureRequest', schema: checkSignatureCheck.schema, required: false },
    answer: 'SignatureReport',
    answerText: 'Which checks pass.',
    errors: [],
  },
  'POST /v1/sandbox/request/check': {
    id: 'checkRequest',
    tag: 'Sandbox',
    summary: 'Check a request',
    description:
      'Reports which check of a described request fails, up to the shape of its body. It changes ' +
      'nothing and consumes no nonce. Sandbox only: production answers 400.',
    body: { name: 'CheckRequestRequest', schema: checkRequestCheck.schema },
    answer: 'RequestReport',
    answerText: 'Which checks pass, and the answer that the request would get.',
    errors: [],
  },
  'GET /openapi.json': {
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
