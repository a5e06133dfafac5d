/** Nonce fingerprints: vectors of HalfSipHash, collisions, separation by tenant and salt. */
import fc from 'fast-check'
import t from 'tap'
import {
  createFingerprinter,
  FINGERPRINT_BYTES,
  halfSipHash,
  newFingerprint,
  readFingerprint,
  writeFingerprint,
  type Fingerprint,
} from '../../src/auth/fingerprint.js'
import { tenantOf, type PartnerId, type TenantId } from '../../src/base/ids.js'

const SALT = Buffer.alloc(32, 1)
const DEMO = tenantOf('demo' as PartnerId, 'sandbox')

const hexIn = (computed: Fingerprint): string => {
  const bytes = Buffer.alloc(FINGERPRINT_BYTES)
  writeFingerprint(computed, bytes, 0)
  return bytes.toString('hex')
}

const hexOf = (tenant: TenantId, nonce: Uint8Array, salt: Uint8Array = SALT): string => {
  const computed = newFingerprint()
  createFingerprinter(salt)(tenant, nonce, computed)
  return hexIn(computed)
}

t.test('matches the published vectors of HalfSipHash-2-4-64', async (t) => {
  const vectors: [number, string][] = [
    [0, '218d1f59b9b83cc8'],
    [4, 'd5e78a175be52ea1'],
    [8, 'edfee820bce4858c'],
    [12, '7bc71f9faef5c799'],
    [16, '7336aad25f7bf3b5'],
    [32, '28709d46d811626c'],
    [60, 'd6762890bf26e460'],
  ]
  const key = Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7])
  const computed = newFingerprint()
  for (const [length, expected] of vectors) {
    const message = Uint8Array.from({ length }, (_, index) => index)
    halfSipHash(key, message, computed)
    t.equal(hexIn(computed), expected, `${length} bytes`)
  }
})

t.test('every bit of the nonce changes the fingerprint', async (t) => {
  const nonce = Buffer.alloc(32, 0xa5)
  const seen = new Set([hexOf(DEMO, nonce)])
  for (let bit = 0; bit < 256; bit++) {
    const changed = Buffer.from(nonce)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    seen.add(hexOf(DEMO, changed))
  }
  t.equal(seen.size, 257)
})

t.test('nonces with little randomness do not collide', async (t) => {
  const fingerprint = createFingerprinter(SALT)
  const computed = newFingerprint()
  const seen = new Set<string>()
  const nonce = Buffer.alloc(32)
  let made = 0
  const take = (): void => {
    fingerprint(DEMO, nonce, computed)
    seen.add(`${computed.high} ${computed.low}`)
    made += 1
  }
  for (let count = 0; count < 50_000; count++) {
    nonce.fill(0)
    nonce.writeUInt32BE(count, 28)
    take()
  }
  for (let count = 1; count < 50_000; count++) {
    const half = Buffer.alloc(16)
    half.writeUInt32LE(count, 4)
    half.copy(nonce, 0)
    half.copy(nonce, 16)
    take()
  }
  t.equal(seen.size, made)
})

t.test('tenant and salt change the fingerprint', async (t) => {
  const nonce = Buffer.alloc(32, 3)
  const production = tenantOf('demo' as PartnerId, 'production')
  t.not(hexOf(DEMO, nonce), hexOf(production, nonce))
  t.not(hexOf(DEMO, nonce), hexOf(DEMO, nonce, Buffer.alloc(32, 2)))
  const same = hexOf(DEMO, Buffer.from(nonce))
  t.equal(hexOf(DEMO, nonce), same, 'equal tenant, salt and nonce: equal fingerprint')
})

t.test('one fingerprinter serves many tenants in turn', async (t) => {
  const fingerprint = createFingerprinter(SALT)
  const computed = newFingerprint()
  const nonce = Buffer.alloc(32, 4)
  const other = tenantOf('other' as PartnerId, 'sandbox')
  for (const tenant of [DEMO, other, DEMO]) {
    fingerprint(tenant, nonce, computed)
    t.equal(hexIn(computed), hexOf(tenant, nonce))
  }
})

t.test('a nonce of the wrong length fails an assertion', async (t) => {
  for (const length of [0, 31, 33, 64]) {
    t.throws(() => hexOf(DEMO, Buffer.alloc(length)), /32 bytes/)
  }
})

t.test('a fingerprint is read back from its 8 bytes', async (t) => {
  const half = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
  fc.assert(
    fc.property(half, half, fc.nat({ max: 4 }), (high, low, offset) => {
      const bytes = Buffer.alloc(16)
      writeFingerprint({ high, low }, bytes, offset)
      const back = newFingerprint()
      readFingerprint(bytes, offset, back)
      t.same(back, { high, low })
    }),
    { numRuns: 200 },
  )
})
