/** The client's signatures equal the published test vectors. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/protos.js'
import { canonicalRequest, signatureOf } from '../../src/client/index.js'

interface Vector {
  readonly name: string
  readonly secret: string
  readonly method: string
  readonly path: string
  readonly timestamp: string
  readonly nonce: string
  readonly body: string
  readonly canonical_request: string
  readonly signature: string
}

const file = join(projectRoot(), 'test/golden/signatures.json')
const parsed = JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[] | { vectors: Vector[] }
const vectors = 'vectors' in parsed ? parsed.vectors : parsed

t.ok(vectors.length > 5)
for (const vector of vectors) {
  const canonical = canonicalRequest(vector)
  t.equal(canonical, vector.canonical_request, vector.name)
  t.equal(signatureOf(canonical, vector.secret), vector.signature, vector.name)
}
