/** Signatures: published vectors, encoding, comparison. */
import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { bodyHash, canonicalRequest } from '../../src/auth/canonical.js'
import { isSignature, sign, signatureMatches, signingKey } from '../../src/auth/signature.js'
import { SIGNATURE_VECTORS } from '../support/signature_vectors.js'

t.test('a client that shares no code with the service signs the published vectors', async (t) => {
  for (const vector of SIGNATURE_VECTORS) {
    const { secret, method, path, timestamp, nonce, body } = vector
    const digest = body === '' ? '' : createHash('sha256').update(body).digest('hex')
    const text = [method, path, timestamp, nonce, digest].join('\n') + '\n'
    t.equal(text, vector.canonical_request, `${vector.name}: text`)
    const signature = createHmac('sha256', secret).update(text).digest('base64')
    t.equal(signature, vector.signature, vector.name)
  }
  t.ok(SIGNATURE_VECTORS.length >= 9)
})

t.test('the service signs and verifies the published vectors', async (t) => {
  for (const { secret, method, path, timestamp, nonce, body, ...expected } of SIGNATURE_VECTORS) {
    const hash = bodyHash(Buffer.from(body))
    const text = canonicalRequest({ method, path, timestamp, nonce, bodyHash: hash })
    const key = signingKey(secret)
    t.equal(hash, expected.body_hash)
    t.equal(text, expected.canonical_request)
    t.equal(sign(key, text), expected.signature)
    t.ok(signatureMatches(key, text, expected.signature))
    t.notOk(signatureMatches(signingKey(`${secret}x`), text, expected.signature))
    t.notOk(
      signatureMatches(signingKey(secret.slice(3)), text, expected.signature),
      'the prefix is part of the secret',
    )
  }
})

t.test('a signature has exactly one encoding', async (t) => {
  const key = signingKey('sk_test')
  const signature = sign(key, 'text')
  const last = signature.charAt(42)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const twin = signature.slice(0, 42) + alphabet.charAt(alphabet.indexOf(last) + 1) + '='
  t.same(
    Buffer.from(twin, 'base64'),
    Buffer.from(signature, 'base64'),
    'Node decodes both to the same bytes',
  )
  const respelt = [
    twin,
    signature.slice(0, 43),
    `${signature}=`,
    ` ${signature}`,
    `${signature}\n`,
    Buffer.from(signature, 'base64').toString('base64url'),
    Buffer.from(signature, 'base64').toString('hex'),
    '',
  ]
  t.ok(signatureMatches(key, 'text', signature))
  for (const text of respelt) t.notOk(signatureMatches(key, 'text', text), JSON.stringify(text))
})

t.test('the format accepts exactly the encodings of 32 bytes', async () => {
  const character = fc.constantFrom(
    ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_= ',
  )
  const near = fc.string({ unit: character, minLength: 42, maxLength: 44 })
  fc.assert(
    fc.property(near, (start) => {
      const text = `${start.slice(0, 43)}=`
      const bytes = Buffer.from(text, 'base64')
      return isSignature(text) === (bytes.length === 32 && bytes.toString('base64') === text)
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) =>
      isSignature(Buffer.from(bytes).toString('base64')),
    ),
  )
})

t.test('a signature with a bit changed does not match', async (t) => {
  const key = signingKey('sk_test')
  const signature = Buffer.from(sign(key, 'text'), 'base64')
  for (let bit = 0; bit < 256; bit++) {
    const changed = Buffer.from(signature)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    if (signatureMatches(key, 'text', changed.toString('base64'))) t.fail(`bit ${bit}`)
  }
  t.ok(signatureMatches(key, 'text', signature.toString('base64')))
})
