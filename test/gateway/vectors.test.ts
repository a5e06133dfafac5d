/**
 * The published signature vectors against a gateway at their timestamp: each one is accepted, and
 * rejected with one byte changed.
 */
import t, { type Test } from 'tap'
import { instant, type Clock } from '../../src/base/clock.js'
import { SIGNATURE_VECTORS, type SignatureVector } from '../support/signature_vectors.js'
import { bytesOf, roundTrip, KEY_ID, snapshot, statusOf } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

const calls = SIGNATURE_VECTORS.filter(({ secret }) => secret.startsWith('sk_'))

/** The status, and the consumed nonces. */
async function sent(
  t: Test,
  vector: SignatureVector,
): Promise<readonly [status: number, consumed: string[]]> {
  const { method, path, timestamp, nonce, body, signature, secret } = vector
  const clock: Clock = { now: () => instant(Date.parse(timestamp)) }
  const keys = [{ key_id: KEY_ID, environment: 'sandbox', secret, revoked_at: 0 }]
  const gateway = await startGateway(t, { partners: snapshot({ keys }), clock })
  const headers = {
    'X-Service-Key-Id': KEY_ID,
    'X-Service-Timestamp': timestamp,
    'X-Service-Nonce': nonce,
    'X-Service-Signature': signature,
  }
  const sentPath = vector.sent_path ?? path
  const call = { method, path: sentPath, body, unsigned: true, headers }
  const { text } = await roundTrip(gateway.port, bytesOf(call), 5_000)
  const consumed = gateway.processorStub.commands.map((command) =>
    command.signed_by?.nonce.toString('hex'),
  )
  return [statusOf(text), consumed.map(String)]
}

t.test('each vector authenticates', async (t) => {
  t.ok(calls.some(({ sent_path }) => sent_path?.includes('?')))
  t.ok(calls.some(({ path }) => path.includes('%')))
  for (const vector of calls) {
    const [status, consumed] = await sent(t, vector)
    t.not(status, 401, vector.name)
    t.same(consumed, [vector.nonce], vector.name)
  }
})

t.test('a vector with one byte changed is 401', async (t) => {
  for (const vector of calls) {
    const path = vector.path.replace('v1', 'v2')
    const changes: readonly Partial<SignatureVector>[] = [
      { method: vector.method === 'GET' ? 'POST' : 'GET' },
      { path, sent_path: path },
      { timestamp: vector.timestamp.replace(':40', ':41') },
      { nonce: vector.nonce.replace(/.$/, (last) => (last === '0' ? '1' : '0')) },
      { body: `${vector.body} ` },
    ]
    for (const change of changes) {
      const name = `${vector.name}: ${Object.keys(change)[0]}`
      t.same(await sent(t, { ...vector, ...change }), [401, []], name)
    }
  }
})
