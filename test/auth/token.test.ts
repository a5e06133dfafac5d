/** Session and receipt tokens: format, expiry, keys, rejected variants, compatibility with jose. */
import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { jwtVerify, SignJWT } from 'jose'
import t from 'tap'
import { createMac } from '../../src/auth/mac.js'
import type { TokenId } from '../../src/auth/secret_generation.js'
import {
  createTokenKeys,
  mintReceiptToken,
  mintSessionToken,
  receiptSubject,
  verifyReceiptToken,
  verifySessionToken,
  type ReceiptClaims,
  type SessionClaims,
} from '../../src/auth/token.js'
import { instant } from '../../src/base/clock.js'
import type { IntentId, TenantId } from '../../src/base/ids.js'

const SECRET = Buffer.alloc(32, 1)
const OLD_SECRET = Buffer.alloc(32, 2)
const KEYS = createTokenKeys([
  { kid: 'new', secret: SECRET },
  { kid: 'old', secret: OLD_SECRET },
])
const EXPIRES_AT = 1_800_000_000
const NOW = instant(EXPIRES_AT * 1_000 - 1)

const SESSION: SessionClaims = {
  intentId: 'pi_01KAJ0V8X0ABCDEFGHJKMNPQRS' as IntentId,
  tenant: 'demo_sandbox' as TenantId,
  jti: 'AAECAwQFBgcICQoLDA0ODw' as TokenId,
  expiresAt: EXPIRES_AT,
}
const MAC = createMac(Buffer.alloc(32, 9))
const RECEIPT: ReceiptClaims = {
  tenant: 'demo_sandbox' as TenantId,
  subject: receiptSubject(MAC, 'user-1'),
  expiresAt: EXPIRES_AT,
}

/** A JWS made without the service's code. */
function jws(header: unknown, payload: unknown, secret: Buffer = SECRET): string {
  const text = (part: unknown): string => (typeof part === 'string' ? part : JSON.stringify(part))
  const input = [header, payload].map((part) => Buffer.from(text(part)).toString('base64url'))
  const mac = createHmac('sha256', secret).update(input.join('.')).digest('base64url')
  return [...input, mac].join('.')
}

const HEADER = { alg: 'HS256', kid: 'new', typ: 'JWT' }
const PAYLOAD = {
  aud: 'service-session',
  exp: EXPIRES_AT,
  jti: SESSION.jti,
  sub: SESSION.intentId,
  tenant: SESSION.tenant,
}

t.test('a session token is a standard JWS under its key', async (t) => {
  const token = mintSessionToken(KEYS, 'new', SESSION)
  t.equal(token, jws(HEADER, PAYLOAD))
  t.same(verifySessionToken(KEYS, token, NOW), { ok: true, claims: SESSION })
})

t.test('a receipt token is a standard JWS under its key', async (t) => {
  const token = mintReceiptToken(KEYS, RECEIPT)
  const { tenant, subject: sub } = RECEIPT
  t.equal(token, jws(HEADER, { aud: 'service-receipt', exp: EXPIRES_AT, sub, tenant }))
  t.same(verifyReceiptToken(KEYS, token, NOW), { ok: true, claims: RECEIPT })
})

t.test('a token verifies while now < exp', async (t) => {
  const session = mintSessionToken(KEYS, 'new', SESSION)
  const receipt = mintReceiptToken(KEYS, RECEIPT)
  const end = instant(EXPIRES_AT * 1_000)
  t.ok(verifySessionToken(KEYS, session, NOW).ok)
  t.ok(verifyReceiptToken(KEYS, receipt, NOW).ok)
  t.same(verifySessionToken(KEYS, session, end), { ok: false, reason: 'expired' })
  t.same(verifyReceiptToken(KEYS, receipt, end), { ok: false, reason: 'expired' })
})

t.test('a replay after a key rotation signs with the first key', async (t) => {
  const before = createTokenKeys([{ kid: 'old', secret: OLD_SECRET }])
  const first = mintSessionToken(before, before.current, SESSION)
  t.equal(mintSessionToken(KEYS, 'old', SESSION), first)
  t.not(mintSessionToken(KEYS, KEYS.current, SESSION), first)
  t.ok(verifySessionToken(KEYS, first, NOW).ok)
  t.throws(() => mintSessionToken(KEYS, 'gone', SESSION), /token key/)
})

t.test('a removed key verifies nothing', async (t) => {
  const only = createTokenKeys([{ kid: 'new', secret: SECRET }])
  const token = mintSessionToken(KEYS, 'old', SESSION)
  t.same(verifySessionToken(only, token, NOW), { ok: false, reason: 'key_unknown' })
  t.throws(() => createTokenKeys([]), /token key/)
})

t.test('session and receipt tokens are not interchangeable', async (t) => {
  const malformed = { ok: false, reason: 'malformed' } as const
  t.same(verifyReceiptToken(KEYS, mintSessionToken(KEYS, 'new', SESSION), NOW), malformed)
  t.same(verifySessionToken(KEYS, mintReceiptToken(KEYS, RECEIPT), NOW), malformed)
})

t.test('other headers are rejected, signed or not', async (t) => {
  const headers = [
    { ...HEADER, alg: 'none' },
    { ...HEADER, alg: 'HS512' },
    { ...HEADER, alg: 'RS256' },
    { ...HEADER, kid: 'unknown' },
    { ...HEADER, kid: undefined },
    { ...HEADER, typ: 'jwt' },
    { ...HEADER, extra: 1 },
    { typ: 'JWT', alg: 'HS256', kid: 'new' },
    '{"alg":"HS256", "kid":"new","typ":"JWT"}',
  ]
  for (const header of headers) {
    const verdict = verifySessionToken(KEYS, jws(header, PAYLOAD), NOW)
    t.same(verdict, { ok: false, reason: 'key_unknown' }, JSON.stringify(header))
  }
  const swapped = jws({ ...HEADER, kid: 'old' }, PAYLOAD, SECRET)
  t.same(verifySessionToken(KEYS, swapped, NOW), { ok: false, reason: 'signature_mismatch' })
  const [header, payload] = jws(HEADER, PAYLOAD).split('.')
  for (const token of [`${header}.${payload}.`, `${header}.${payload}`]) {
    t.same(verifySessionToken(KEYS, token, NOW), { ok: false, reason: 'malformed' }, 'unsigned')
  }
})

t.test('other payloads are rejected even when signed with the key', async (t) => {
  const { tenant, ...withoutTenant } = PAYLOAD
  const payloads: unknown[] = [
    { ...PAYLOAD, extra: 1 },
    { ...PAYLOAD, aud: 'service-receipt' },
    { ...PAYLOAD, aud: ['service-session'] },
    { ...PAYLOAD, exp: String(EXPIRES_AT) },
    { ...PAYLOAD, exp: EXPIRES_AT + 0.5, nbf: 0 },
    { ...PAYLOAD, exp: null },
    { ...PAYLOAD, sub: [PAYLOAD.sub] },
    { ...PAYLOAD, jti: { toString: 1 } },
    withoutTenant,
    { tenant, ...withoutTenant },
    JSON.stringify(PAYLOAD, null, 1),
    JSON.stringify(PAYLOAD).replace('{', '{"exp":9999999999,'),
    JSON.stringify(PAYLOAD).replace(String(EXPIRES_AT), '18e8'),
    JSON.stringify(PAYLOAD).replace('pi_', String.raw`\u0070i_`),
    JSON.stringify({ ...PAYLOAD, sub: 'x","aud":"service-session' }),
    'null',
    '1',
    '[]',
    '"text"',
    '{',
    ' ',
  ]
  for (const payload of payloads) {
    const verdict = verifySessionToken(KEYS, jws(HEADER, payload), NOW)
    t.same(verdict, { ok: false, reason: 'malformed' }, JSON.stringify(payload))
  }
})

t.test('a token with a character changed, removed or added is rejected', async (t) => {
  for (const [token, verify] of [
    [mintSessionToken(KEYS, 'new', SESSION), verifySessionToken],
    [mintReceiptToken(KEYS, RECEIPT), verifyReceiptToken],
  ] as const) {
    const others = fc.constantFrom(...'AZaz09-_.=+/ \n\u00e9')
    const index = fc.nat({ max: token.length - 1 })
    t.ok(verify(KEYS, token, NOW).ok)
    fc.assert(
      fc.property(index, others, fc.nat({ max: 1 }), (at, character, cut) => {
        const changed = token.slice(0, at) + character + token.slice(at + cut)
        return changed === token || !verify(KEYS, changed, NOW).ok
      }),
      { numRuns: 2_000 },
    )
    for (let length = 0; length < token.length; length++) {
      if (verify(KEYS, token.slice(0, length), NOW).ok) t.fail(`cut at ${length}`)
    }
  }
})

t.test('the last character has one encoding', async (t) => {
  const token = mintSessionToken(KEYS, 'new', SESSION)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const twin = token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) + 1)
  const signatureOf = (text: string): Buffer => Buffer.from(text.split('.')[2] ?? '', 'base64url')
  t.same(signatureOf(twin), signatureOf(token), 'Node decodes both to the same bytes')
  t.same(verifySessionToken(KEYS, twin, NOW), { ok: false, reason: 'malformed' })
})

t.test('a token that is too long is rejected before parsing', async (t) => {
  const token = jws(HEADER, { ...PAYLOAD, pad: 'x'.repeat(2_000) }, OLD_SECRET)
  t.ok(token.length > 2_048)
  const verdict = verifySessionToken(KEYS, token, NOW)
  t.same(verdict, { ok: false, reason: 'malformed' }, 'no MAC is computed')
})

t.test('every minted token verifies to its claims and is short', async (t) => {
  const id = fc.string({ unit: fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ') })
  const claims = fc.record({
    intentId: id.map((text) => `pi_${text}` as IntentId),
    tenant: fc.constantFrom('demo_sandbox' as TenantId, 'a-1_production' as TenantId),
    jti: fc
      .uint8Array({ minLength: 16, maxLength: 16 })
      .map((bytes) => Buffer.from(bytes).toString('base64url') as TokenId),
    expiresAt: fc.integer({ min: EXPIRES_AT, max: 99_999_999_999 }),
  })
  fc.assert(
    fc.property(claims, fc.constantFrom('new', 'old'), (session, kid) => {
      const token = mintSessionToken(KEYS, kid, session)
      t.same(verifySessionToken(KEYS, token, NOW), { ok: true, claims: session })
      t.equal(mintSessionToken(KEYS, kid, { ...session }), token)
    }),
    { numRuns: 200 },
  )
})

t.test('any user id makes a receipt token that verifies and fits a header', async (t) => {
  const ids = ['u', '"\\', ...['\u0000', '🙂', '\ud800'].map((one) => one.repeat(256))]
  for (const id of ids) {
    const claims = { ...RECEIPT, subject: receiptSubject(MAC, id) }
    const token = mintReceiptToken(KEYS, claims)
    t.same(verifyReceiptToken(KEYS, token, NOW), { ok: true, claims })
    t.ok(token.length < 400)
  }
  const subject = (id: string): string => receiptSubject(MAC, id)
  t.not(subject('\ud800'), subject('\ud801'), 'lone surrogates stay different')
  t.not(subject('user'), subject('User'))
  const underOtherKey = receiptSubject(createMac(Buffer.alloc(32, 8)), 'user')
  t.not(subject('user'), underOtherKey, 'the subject is a keyed hash')
  const bare = createHash('sha256').update(JSON.stringify('user')).digest('base64url')
  t.not(subject('user'), bare, 'the subject is not an unkeyed hash')
  t.notMatch(mintReceiptToken(KEYS, RECEIPT), /user-1/)
})

t.test(
  'jose verifies tokens of the service, and the service verifies tokens of jose',
  async (t) => {
    const token = mintSessionToken(KEYS, 'new', SESSION)
    const { payload, protectedHeader } = await jwtVerify(token, SECRET, {
      algorithms: ['HS256'],
      audience: 'service-session',
      currentDate: new Date(NOW),
    })
    t.same({ payload, protectedHeader }, { payload: PAYLOAD, protectedHeader: HEADER })
    await t.rejects(jwtVerify(token, OLD_SECRET), { code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' })
    await t.rejects(
      jwtVerify(token, SECRET, { currentDate: new Date(EXPIRES_AT * 1_000) }),
      { code: 'ERR_JWT_EXPIRED' },
      'jose reads the same expiry',
    )

    const theirs = await new SignJWT(PAYLOAD).setProtectedHeader(HEADER).sign(SECRET)
    t.same(verifySessionToken(KEYS, theirs, NOW), { ok: true, claims: SESSION })
    const unsafe = await new SignJWT(PAYLOAD)
      .setProtectedHeader({ alg: 'HS512' })
      .sign(Buffer.alloc(64, 1))
    t.match(verifySessionToken(KEYS, unsafe, NOW), { ok: false })
  },
)
