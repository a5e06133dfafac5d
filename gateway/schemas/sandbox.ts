/**
 * Bodies of the sandbox's own routes.
 */
import { BODY_MAX_BYTES } from '../../src/base/constants.js'
import { checkOf } from '../decode/body.js'

/** A signature as its maker describes it; a form that is wrong is for the check to tell. */
export interface SignatureCheckBody {
  readonly method: string
  readonly path: string
  readonly key_id: string
  readonly timestamp: string
  readonly nonce: string
  readonly signature: string
  /** Either the body, or its hash, or both; neither: there is none. */
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
