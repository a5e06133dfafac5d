/** The sandbox's signature check: its report, and secrets that it never reveals. */
import t from 'tap'
import { REPEATED, type KnownKey } from '../../src/auth/verify.js'
import { signingKey } from '../../src/auth/signature.js'
import { instant, type Instant } from '../../src/base/clock.js'
import {
  checkSignature,
  type CheckName,
  type SignatureClaim,
  type SignatureReport,
} from '../../src/auth/signature_check.js'
import { SIGNATURE_VECTORS, type SignatureVector } from '../support/signature_vectors.js'
import {
  bytesOf,
  call,
  createRequest,
  post,
  roundTrip,
  KEY_ID,
  PRODUCTION_KEY_ID,
  SECRET,
  signedHeaders,
  statusOf,
} from './signing_partner.js'
import { startGateway } from './running_gateway.js'

const calls = SIGNATURE_VECTORS.filter(({ secret }) => secret.startsWith('sk_'))

const claimOf = (
  vector: SignatureVector,
  change: Partial<SignatureClaim> = {},
): SignatureClaim => ({
  method: vector.method,
  path: vector.path,
  bodyHash: vector.body_hash,
  keyId: KEY_ID,
  timestamp: vector.timestamp,
  nonce: vector.nonce,
  signature: vector.signature,
  claimedBodyHash: undefined,
  ...change,
})

const known =
  (secret: string, revokedAt?: Instant) =>
  (keyId: string): KnownKey | undefined =>
    keyId === KEY_ID ? { secret: signingKey(secret), revokedAt } : undefined

const failedIn = ({ checks }: SignatureReport): CheckName[] =>
  checks.filter(({ result }) => result === 'failed').map(({ check }) => check)

const notMadeIn = ({ checks }: SignatureReport): CheckName[] =>
  checks.filter(({ result }) => result === 'not_made').map(({ check }) => check)

t.test('the published vectors pass, each over its canonical request', async (t) => {
  t.ok(calls.length >= 5)
  for (const vector of calls) {
    const now = instant(Date.parse(vector.timestamp))
    const report = checkSignature(claimOf(vector), known(vector.secret), now)
    t.equal(report.valid, true, vector.path)
    t.equal(report.canonical_request, vector.canonical_request)
    t.equal(report.body_sha256, vector.body_hash)
    t.same(notMadeIn(report), ['body_sha256'])
  }
})

const [vector] = calls
if (vector === undefined) throw new Error('there are no vectors')
const now = instant(Date.parse(vector.timestamp))
const checkOf = (change: Partial<SignatureClaim>, at = now): SignatureReport =>
  checkSignature(claimOf(vector, change), known(vector.secret), at)

t.test('one fault fails one check', async (t) => {
  const cases: readonly [CheckName, Partial<SignatureClaim>][] = [
    ['key_id_format', { keyId: undefined }],
    ['key_id_format', { keyId: REPEATED }],
    ['key_id_format', { keyId: 'acme' }],
    ['timestamp_format', { timestamp: undefined }],
    ['timestamp_format', { timestamp: '2026-11-21 04:35:40Z' }],
    ['nonce_format', { nonce: vector.nonce.toUpperCase() }],
    ['nonce_format', { nonce: REPEATED }],
    ['signature_format', { signature: vector.signature.replace('=', '') }],
    ['signature_format', { signature: undefined }],
    ['body_sha256', { claimedBodyHash: '0'.repeat(64) }],
    ['environment', { keyId: PRODUCTION_KEY_ID }],
    ['signature', { keyId: 'nobody_sandbox_2026q4' }],
    ['signature', { path: `${vector.path}/` }],
    ['signature', { method: 'GET' }],
    ['signature', { bodyHash: '' }],
    ['signature', { nonce: 'ab'.repeat(32) }],
  ]
  for (const [check, change] of cases) {
    const report = checkOf(change)
    t.same(failedIn(report), [check], JSON.stringify(change))
    t.equal(report.valid, false)
    const help = report.checks.find((made) => made.check === check)?.help ?? ''
    t.match(help, /^[A-Z].+\.$/s)
  }
  t.same(failedIn(checkOf({}, instant(now + 300_000))), [], 'the last millisecond of the window')
  t.same(failedIn(checkOf({}, instant(now + 300_001))), ['timestamp_window'])
  t.same(failedIn(checkOf({}, instant(now - 300_001))), ['timestamp_window'])
})

t.test('an unknown key and a wrong secret give the same report', async (t) => {
  const wrong = checkSignature(claimOf(vector), known('sk_of_eve'), now)
  const revoked = checkSignature(claimOf(vector), known('sk_of_eve', instant(0)), now)
  const unknown = checkSignature(claimOf(vector), () => undefined, now)
  t.same(failedIn(unknown), ['signature'])
  t.same(unknown, wrong)
  t.same(unknown, revoked, 'the report mentions a revocation only for a valid signature')
})

t.test('a valid signature with a revoked key reports key_active as failed', async (t) => {
  const at = (revokedAt: number): CheckName[] =>
    failedIn(checkSignature(claimOf(vector), known(vector.secret, instant(revokedAt)), now))
  t.same(at(now + 1), [])
  t.same(at(now), ['key_active'])
})

t.test('production keys are not looked up', async (t) => {
  const lookup = (keyId: string): undefined => {
    t.fail(`${keyId} was looked up`)
  }
  checkSignature(claimOf(vector, { keyId: PRODUCTION_KEY_ID }), lookup, now)
  t.pass()
})

const PATH = '/v1/sandbox/signature/check'
const reportOf = (json: unknown): SignatureReport => json as SignatureReport

t.test('a request with signature headers is itself checked, as received', async (t) => {
  const gateway = await startGateway(t)
  const good = post(`${PATH}?not=signed`, 'any bytes')
  const passed = await call(gateway.port, good)
  t.equal(passed.status, 200)
  t.equal(reportOf(passed.json).valid, true)
  const secret = await call(gateway.port, { ...good, secret: 'sk_of_eve' })
  t.equal(secret.status, 200)
  t.same(failedIn(reportOf(secret.json)), ['signature'])
  t.notMatch(secret.text, SECRET)

  const lines = bytesOf({ ...good, path: PATH }).replace(/X-Service-Nonce: .*\r\n/, '$&$&')
  const { text } = await roundTrip(gateway.port, lines)
  t.equal(statusOf(text), 200)
  t.match(text, '{"check":"nonce_format","result":"failed"')
  t.equal(gateway.processorStub.commands.length, 0, 'no nonce is consumed')
})

t.test('a request without signature headers is checked as described in its body', async (t) => {
  const gateway = await startGateway(t)
  const { method, path, body = '' } = createRequest()
  const headers = signedHeaders({ method, path, body })
  const described = {
    method,
    path: `${path}?x=1`,
    key_id: KEY_ID,
    timestamp: headers['X-Service-Timestamp'],
    nonce: headers['X-Service-Nonce'],
    signature: headers['X-Service-Signature'],
    body,
  }
  const check = (claim: object): ReturnType<typeof call> =>
    call(gateway.port, { ...post(PATH, claim), unsigned: true })
  const passed = await check(described)
  t.equal(passed.status, 200)
  t.equal(reportOf(passed.json).valid, true)
  const hash = reportOf(passed.json).body_sha256
  const byHash = await check({ ...described, body: undefined, body_sha256: hash })
  t.equal(reportOf(byHash.json).valid, true)
  const other = await check({ ...described, body_sha256: '0'.repeat(64) })
  t.same(failedIn(reportOf(other.json)), ['body_sha256'])
  const withoutBody = await check({ ...described, body: undefined })
  t.same(failedIn(reportOf(withoutBody.json)), ['signature'])
  t.match(reportOf(withoutBody.json).canonical_request, /\n\n$/)

  for (const claim of [{}, { ...described, method: 'post' }, { ...described, secret: SECRET }]) {
    t.match(await check(claim), { status: 400, json: { error: { code: 'invalid_request' } } })
  }
  t.equal(gateway.processorStub.commands.length, 0)
})

t.test('it is 400 in production and 503 before the directory snapshot', async (t) => {
  const production = await startGateway(t, { environment: { PRODUCTION_HOSTS: '127.0.0.1' } })
  for (const keyId of [KEY_ID, PRODUCTION_KEY_ID]) {
    const answer = await call(production.port, { ...post(PATH), keyId })
    t.match(answer, { status: 400, json: { error: { code: 'invalid_request' } } })
  }
  const early = await startGateway(t, { partners: { complete: false }, waitUntilReady: false })
  t.equal(await early.status(post(PATH)), 503)
})
