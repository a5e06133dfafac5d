/** Answers of the sandbox tools and of the contract itself. */
import { listOf, objectOf, ref, text, type Schema } from './schema.js'

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
