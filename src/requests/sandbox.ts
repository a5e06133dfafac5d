/** Bodies of the sandbox routes: both checks, and the simulated outcome of a payout. */
import { BODY_MAX_BYTES } from '../base/constants.js'
import { checkOf } from './check.js'

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
