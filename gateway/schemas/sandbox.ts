/** Bodies of the sandbox routes: the signature check, and the simulated outcome of a payout. */
import { BODY_MAX_BYTES } from '../../src/base/constants.js'
import { checkOf } from '../decode/body.js'

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
    method: { type: 'string', pattern: '^[A-Z]{1,16}$' },
    path: { type: 'string', pattern: '^/' },
    key_id: { type: 'string' },
    timestamp: { type: 'string' },
    nonce: { type: 'string' },
    signature: { type: 'string' },
    body: { type: 'string', maxLength: BODY_MAX_BYTES },
    body_sha256: { type: 'string', pattern: '^([0-9a-f]{64})?$' },
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
  properties: { outcome: { enum: OUTCOMES } },
})
