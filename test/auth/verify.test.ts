/** Verification of a signed request: each check, and their order. */
import fc from 'fast-check'
import t from 'tap'
import { bodyHash, canonicalRequest } from '../../src/auth/canonical.js'
import { sign, signingKey } from '../../src/auth/signature.js'
import {
  REPEATED,
  verifyRequest,
  type KnownKey,
  type RefusalReason,
  type SignedRequest,
} from '../../src/auth/verify.js'
import { instant, MINUTE, plus, toRfc3339 } from '../../src/base/clock.js'

const NOW = instant(Date.parse('2026-11-21T04:35:40.000Z'))
const SECRET = signingKey('sk_demo')
const NONCE = '0123456789abcdef'.repeat(4)
const KEY_ID = 'demo_sandbox_2026q4'

const keys = new Map<string, KnownKey>([
  [KEY_ID, { secret: SECRET, revokedAt: undefined }],
  ['demo_sandbox_2026q3', { secret: SECRET, revokedAt: plus(NOW, 1) }],
  ['demo_sandbox_2026q2', { secret: SECRET, revokedAt: NOW }],
  ['demo_production_2026q4', { secret: SECRET, revokedAt: undefined }],
])
const lookup = (keyId: string): KnownKey | undefined => keys.get(keyId)

type Unsigned = Omit<SignedRequest, 'signature'>

const unsigned = (changes: Partial<Unsigned> = {}): Unsigned => ({
  method: 'POST',
  path: '/v1/payouts',
  body: Buffer.from('{}'),
  keyId: KEY_ID,
  timestamp: toRfc3339(NOW),
  nonce: NONCE,
  environment: 'sandbox',
  allowsAddress: () => true,
  ...changes,
})

/** Signs the given values, valid or not. */
function signedWith(request: Unsigned, secret = SECRET): SignedRequest {
  const { method, path, body } = request
  const timestamp = String(request.timestamp)
  const nonce = String(request.nonce)
  const canonical = canonicalRequest({
    ...{ method, path, timestamp, nonce },
    bodyHash: bodyHash(body),
  })
  return { ...request, signature: sign(secret, canonical) }
}

const outcome = (request: SignedRequest): RefusalReason | 'accepted' => {
  const verdict = verifyRequest(request, lookup, NOW)
  return verdict.ok ? 'accepted' : verdict.reason
}

/** The outcome of a request with these values, signed as it is. */
const outcomeOf = (changes: Partial<Unsigned>, secret = SECRET): RefusalReason | 'accepted' =>
  outcome(signedWith(unsigned(changes), secret))

t.test('a valid signature authenticates its key', async (t) => {
  t.same(verifyRequest(signedWith(unsigned()), lookup, NOW), {
    ok: true,
    keyId: KEY_ID,
    partner: 'demo',
    environment: 'sandbox',
    nonce: Buffer.from(NONCE, 'hex'),
    signedAt: NOW,
  })
  t.equal(outcomeOf({ method: 'GET', body: Buffer.alloc(0) }), 'accepted', 'no body')
  const older = outcomeOf({ keyId: 'demo_sandbox_2026q3' })
  t.equal(older, 'accepted', 'an older key is valid until its revocation')
})

t.test('each check rejects with its reason', async (t) => {
  const table: [Partial<Unsigned>, RefusalReason][] = [
    [{ allowsAddress: () => false }, 'address_not_allowed'],
    [{ keyId: 'nobody_sandbox_2026q4' }, 'key_unknown'],
    [{ environment: 'production' }, 'key_of_other_environment'],
    [{ keyId: 'demo_production_2026q4' }, 'key_of_other_environment'],
    [{ keyId: 'demo_sandbox_2026q2' }, 'key_revoked'],
  ]
  for (const [changes, reason] of table)
    t.equal(outcomeOf(changes), reason, Object.keys(changes).join())
  t.equal(outcomeOf({}, signingKey('sk_other')), 'signature_mismatch', 'other secret')
  const otherBody = { ...signedWith(unsigned()), body: Buffer.alloc(0) }
  t.equal(outcome(otherBody), 'signature_mismatch', 'other body')
})

t.test('a timestamp is valid for five minutes either way, inclusive', async (t) => {
  const at = (offset: number): string => outcomeOf({ timestamp: toRfc3339(plus(NOW, offset)) })
  t.equal(at(5 * MINUTE), 'accepted')
  t.equal(at(-5 * MINUTE), 'accepted')
  t.equal(at(5 * MINUTE + 1), 'timestamp_outside_window')
  t.equal(at(-5 * MINUTE - 1), 'timestamp_outside_window')
})

t.test('the timestamp is signed as it was sent', async (t) => {
  const sent = signedWith(unsigned({ timestamp: '2026-11-21T04:35:40+00:00' }))
  t.equal(outcome(sent), 'accepted')
  t.equal(outcome({ ...sent, timestamp: '2026-11-21T04:35:40Z' }), 'signature_mismatch')
})

t.test('a missing, repeated or malformed header is rejected before any key lookup', async (t) => {
  const request = signedWith(unsigned())
  const wrong: Partial<SignedRequest>[] = []
  for (const name of ['keyId', 'timestamp', 'nonce', 'signature'] as const) {
    const value = request[name] as string
    const values = [undefined, REPEATED, '', ` ${value}`, `${value}\n`, `${value}, ${value}`]
    for (const other of values) wrong.push({ [name]: other })
  }
  wrong.push({ nonce: NONCE.toUpperCase() }, { timestamp: '2026-02-30T00:00:00Z' })
  const lookup = (): never => t.fail('the key directory was read') as never
  for (const change of wrong) {
    const verdict = verifyRequest({ ...request, ...change }, lookup, NOW)
    t.same(verdict, { ok: false, reason: 'headers_malformed' })
  }
})

/** One fault each, in order of precedence. */
const faults: [RefusalReason, Partial<SignedRequest>][] = [
  ['headers_malformed', { nonce: 'x' }],
  ['address_not_allowed', { allowsAddress: () => false }],
  ['key_unknown', { keyId: 'nobody_sandbox_2026q4' }],
  ['timestamp_outside_window', { timestamp: toRfc3339(plus(NOW, 6 * MINUTE)) }],
  ['signature_mismatch', { signature: sign(SECRET, 'something else') }],
]

t.test('the fault of highest precedence is reported', async () => {
  fc.assert(
    fc.property(fc.subarray(faults, { minLength: 1 }), (chosen) => {
      const changes = chosen.map(([, change]) => change)
      const request = signedWith(Object.assign(unsigned(), ...changes) as Unsigned)
      return outcome(Object.assign(request, ...changes) as SignedRequest) === chosen[0]?.[0]
    }),
  )
})

t.test('no signature authenticates an unknown key', async (t) => {
  for (const secret of ['nobody', '', 'undefined', 'sk_demo']) {
    const found = outcomeOf({ keyId: 'nobody_sandbox_2026q4' }, signingKey(secret))
    t.equal(found, 'key_unknown', secret)
  }
})

t.test('the address is checked for the partner of the key id', async (t) => {
  const checked: string[] = []
  const allowsAddress: SignedRequest['allowsAddress'] = (partner) => checked.push(partner) > 0
  t.equal(outcomeOf({ allowsAddress }), 'accepted')
  t.same(checked, ['demo'])
})

t.test('a malformed request is not hashed', async (t) => {
  const { body: _, ...good } = signedWith(unsigned())
  const wrong: Partial<SignedRequest>[] = [
    { keyId: undefined },
    { keyId: REPEATED },
    { timestamp: '2026-11-21 04:35:40Z' },
    { nonce: NONCE.toUpperCase() },
    { signature: 'A'.repeat(43) },
  ]
  for (const change of wrong) {
    const request = {
      ...good,
      ...change,
      get body(): Uint8Array {
        throw new Error('the body was read')
      },
    }
    t.equal(outcome(request), 'headers_malformed')
  }
})

t.test('a change of any signed part invalidates the signature', async (t) => {
  const request = signedWith(unsigned())
  const changes: Partial<SignedRequest>[] = [
    { method: 'PUT' },
    { method: 'post' },
    { path: '/v1/payouts/' },
    { path: '/v1/Payouts' },
    { path: '/v1/payouts?limit=1' },
    { timestamp: toRfc3339(plus(NOW, 1)) },
    { nonce: NONCE.replace('0', '1') },
    { body: Buffer.from('{} ') },
  ]
  t.equal(outcome(request), 'accepted')
  for (const change of changes) {
    t.equal(outcome({ ...request, ...change }), 'signature_mismatch', JSON.stringify(change))
  }
})
