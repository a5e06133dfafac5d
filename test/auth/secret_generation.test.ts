/** Generated secrets and nonces: format and randomness. */
import t from 'tap'
import { isNonce } from '../../src/auth/request_shape.js'
import {
  newNonce,
  newSigningSecret,
  newTokenId,
  newWebhookSecret,
} from '../../src/auth/secret_generation.js'
import { systemRandom } from '../../src/base/random.js'
import { fixedRandom } from './fixed_random.js'

const table = [
  { name: 'signing secret', make: newSigningSecret, shape: /^sk_[A-Za-z0-9_-]{43}$/, bits: 256 },
  { name: 'webhook secret', make: newWebhookSecret, shape: /^whsec_[A-Za-z0-9_-]{43}$/, bits: 256 },
  { name: 'token id', make: newTokenId, shape: /^[A-Za-z0-9_-]{22}$/, bits: 128 },
  { name: 'nonce', make: newNonce, shape: /^[0-9a-f]{64}$/, bits: 256 },
]

for (const { name, make, shape, bits } of table) {
  t.test(`${name}: it has its prefix and is entirely random`, async (t) => {
    let drawn = 0
    const counted = fixedRandom()
    const text = make({
      ...counted,
      bytes: (count) => {
        drawn += count
        return counted.bytes(count)
      },
    })
    t.match(text, shape)
    t.equal(drawn * 8, bits)
    const body = text.replace(/^(sk|whsec)_/, '')
    const encoding = name === 'nonce' ? 'hex' : 'base64url'
    t.same(Buffer.from(body, encoding), fixedRandom().bytes(bits / 8), 'the bytes as drawn')
    const random = systemRandom()
    t.not(make(random), make(random))
  })
}

t.test('a new nonce is well-formed', async (t) => {
  t.ok(isNonce(newNonce(systemRandom())))
})
