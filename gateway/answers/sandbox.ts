/** Answers of the sandbox tools and of the contract itself. */
import { listOf, objectOf, ref, text, type Schema } from './schema.js'

export const SANDBOX_ANSWERS: Readonly<Record<string, Schema>> = {
  SignatureReport: objectOf('Which checks a signature passes.', {
    valid: { type: 'boolean', description: 'All checks passed. Nonces are not looked up.' },
    checks: listOf(
      objectOf(
        'One check.',
        {
          check: text('Name of the check.'),
          result: text('`not_made`: it depends on a failed check.', {
            enum: ['passed', 'failed', 'not_made'],
          }),
        },
        { help: text('Only for failed checks.') },
      ),
      'In their order.',
    ),
    canonical_request: {
      type: ['string', 'null'],
      description: 'The text that the service signs; `null` while a part is missing.',
    },
    body_sha256: text('Lower-case hex; empty without a body.'),
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
