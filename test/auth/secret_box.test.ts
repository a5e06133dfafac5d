/** Encrypted secrets: format, binding to their field, key rotation. */
import { createDecipheriv } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { deriveKey, type MasterKey } from '../../src/auth/master_key.js'
import { createSecretBox, kidOf, open, seal } from '../../src/auth/secret_box.js'
import { fixedRandom } from './fixed_random.js'

const NEW: MasterKey = { kid: 'k2', bytes: Buffer.alloc(32, 2) }
const OLD: MasterKey = { kid: 'k1', bytes: Buffer.alloc(32, 1) }
const BOX = createSecretBox([NEW, OLD], 'secrets', fixedRandom())
const FIELD = 'signing_keys.secret.demo_sandbox_2026q4'

t.test('an encrypted text decrypts to the original', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (plaintext, field) => {
      t.equal(open(BOX, seal(BOX, plaintext, field), field), plaintext)
    }),
    { numRuns: 300 },
  )
})

t.test(
  'the format is v1, key id, iv, text, tag: AES-256-GCM, with the field authenticated',
  async (t) => {
    const sealed = seal(BOX, 'sk_secret', FIELD)
    t.match(sealed, /^v1\.k2\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/)
    t.notMatch(sealed, /secret/)
    const [, , iv, text, tag] = sealed.split('.').map((part) => Buffer.from(part, 'base64url'))
    const key = deriveKey(NEW, 'secrets')
    const decipher = createDecipheriv('aes-256-gcm', key, iv as Buffer)
    decipher.setAAD(Buffer.from(`v1.k2.${FIELD}`))
    decipher.setAuthTag(tag as Buffer)
    t.equal(
      decipher.update(text as Buffer, undefined, 'utf8') + decipher.final('utf8'),
      'sk_secret',
    )
  },
)

t.test('the same text is encrypted differently each time', async (t) => {
  const sealed = Array.from({ length: 100 }, () => seal(BOX, 'sk_secret', FIELD))
  t.equal(new Set(sealed.map((one) => one.split('.')[2])).size, 100, 'each iv is unique')
  t.equal(new Set(sealed).size, 100)
})

t.test('a text decrypts only in the field it was encrypted for', async () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      const opened = open(BOX, seal(BOX, 'sk_secret', one), other)
      return (opened === 'sk_secret') === (one === other)
    }),
  )
})

t.test(
  'a text with a character changed, removed or added does not decrypt and does not throw',
  async (t) => {
    const sealed = seal(BOX, 'sk_secret', FIELD)
    const others = fc.constantFrom(...'AQgwZaz019-_.=+/ \nv')
    fc.assert(
      fc.property(
        fc.nat({ max: sealed.length }),
        others,
        fc.nat({ max: 2 }),
        (at, character, cut) => {
          const changed = sealed.slice(0, at) + character + sealed.slice(at + cut)
          return changed === sealed || open(BOX, changed, FIELD) === undefined
        },
      ),
      { numRuns: 3_000 },
    )
    fc.assert(fc.property(fc.string(), (text) => open(BOX, text, FIELD) === undefined))
    t.equal(open(BOX, sealed, FIELD), 'sk_secret')
  },
)

t.test('each bit of iv, text and tag is authenticated', async (t) => {
  const parts = seal(BOX, 'sk_secret', FIELD).split('.')
  for (const index of [2, 3, 4]) {
    const bytes = Buffer.from(parts[index] ?? '', 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      const text = parts.with(index, changed.toString('base64url')).join('.')
      if (open(BOX, text, FIELD) !== undefined) t.fail(`part ${index}, bit ${bit}`)
    }
  }
  t.equal(open(BOX, parts.join('.'), FIELD), 'sk_secret')
})

t.test('after a rotation old texts decrypt and new ones use the new key', async (t) => {
  const before = createSecretBox([OLD], 'secrets', fixedRandom('before'))
  const sealed = seal(before, 'sk_secret', FIELD)
  t.equal(open(BOX, sealed, FIELD), 'sk_secret')
  t.equal(open(before, seal(BOX, 'sk_secret', FIELD), FIELD), undefined, 'unknown key')
  t.match(seal(BOX, 'sk_secret', FIELD), /^v1\.k2\./)
  t.equal(open(BOX, sealed.replace('.k1.', '.k2.'), FIELD), undefined)
  t.equal(kidOf(sealed), 'k1', 'a text contains the id of its key')
  for (const text of ['', 'sk_secret', sealed.slice(0, -1)]) t.equal(kidOf(text), undefined)
})

t.test(
  'a box of another purpose, or of another key with the same id, decrypts nothing',
  async (t) => {
    const sealed = seal(BOX, 'sk_secret', FIELD)
    const accounts = createSecretBox([NEW, OLD], 'accounts', fixedRandom())
    const foreign = createSecretBox([{ ...NEW, bytes: OLD.bytes }], 'secrets', fixedRandom())
    t.equal(open(accounts, sealed, FIELD), undefined)
    t.equal(open(foreign, sealed, FIELD), undefined)
  },
)
