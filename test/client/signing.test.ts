/** The client's signatures equal the published test vectors. */
import t from 'tap'
import { canonicalRequest, signatureOf } from '../../src/client/index.js'
import { SIGNATURE_VECTORS } from '../support/signature_vectors.js'

t.ok(SIGNATURE_VECTORS.length > 5)
for (const vector of SIGNATURE_VECTORS) {
  const canonical = canonicalRequest(vector)
  t.equal(canonical, vector.canonical_request, vector.name)
  t.equal(signatureOf(canonical, vector.secret), vector.signature, vector.name)
}
