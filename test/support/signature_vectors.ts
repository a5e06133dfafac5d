/** The published signature vectors. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'

export interface SignatureVector {
  readonly name: string
  readonly secret: string
  readonly method: string
  /** As sent, where it differs from the signed one. */
  readonly sent_path?: string
  readonly path: string
  readonly timestamp: string
  readonly nonce: string
  readonly body: string
  readonly body_hash: string
  readonly canonical_request: string
  readonly signature: string
}

const file = join(projectRoot(), 'test/golden/signatures.json')

export const { vectors: SIGNATURE_VECTORS } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly vectors: readonly SignatureVector[]
}
