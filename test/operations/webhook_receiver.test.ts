/** The receiver accepts exactly the deliveries of the contract. */
import { createHmac, createHash, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { instant, plus, toRfc3339, MINUTE } from '../../src/base/clock.js'
import {
  openReceiver,
  type ReceivedWebhook,
} from '../../src/operations/partners/webhook_receiver.js'

const SECRET = 'whsec_of_a_test'
const NOW = instant(Date.UTC(2026, 10, 21, 4, 35))

interface Sent {
  readonly id?: string
  readonly type?: string
  readonly keyId?: string
  readonly secret?: string
  readonly at?: number
  readonly nonce?: string
  readonly path?: string
  /** Body that replaces the signed one. */
  readonly sent?: string
  /** The event id in the headers, when it differs from the body's. */
  readonly headerId?: string
}

/** A sender that signs according to the contract, with node:crypto. */
function signed(given: Sent) {
  const { id = 'evt_1', type = 'payout.completed', path = '/hooks?a=b%20c' } = given
  const body = JSON.stringify({ id, type, webhook_event_id: id, webhook_event_type: type })
  const timestamp = toRfc3339(plus(NOW, given.at ?? 0))
  const nonce = given.nonce ?? randomBytes(32).toString('hex')
  const hash = createHash('sha256').update(body).digest('hex')
  const text = `POST\n${path}\n${timestamp}\n${nonce}\n${hash}\n`
  return {
    path,
    body: given.sent ?? body,
    headers: {
      'X-Service-Key-Id': given.keyId ?? 'whk_1',
      'X-Service-Timestamp': timestamp,
      'X-Service-Nonce': nonce,
      'X-Service-Signature': createHmac('sha256', given.secret ?? SECRET)
        .update(text)
        .digest('base64'),
      'X-Service-Webhook-Event-Id': given.headerId ?? id,
      'X-Service-Webhook-Event-Type': type,
    },
  }
}

async function aReceiver(t: Test, answer?: (delivery: ReceivedWebhook) => number) {
  const receiver = await openReceiver({
    clock: { now: () => NOW },
    brand: 'Service',
    port: 0,
    secretOf: (keyId) => (keyId === 'whk_1' ? SECRET : undefined),
    ...(answer === undefined ? {} : { answer }),
  })
  t.teardown(() => receiver.close())
  const post = async (given: Sent): Promise<[number, string | undefined]> => {
    const { path, body, headers } = signed(given)
    const { status } = await fetch(`${receiver.url}${path}`, { method: 'POST', body, headers })
    return [status, receiver.deliveries.at(-1)?.verdict]
  }
  return { receiver, post }
}

t.test('a valid delivery is accepted and counted once', async (t) => {
  const { receiver, post } = await aReceiver(t)
  t.strictSame(await post({}), [200, 'valid'])
  t.strictSame(await post({}), [200, 'duplicate'])
  t.strictSame(await post({ id: 'evt_2', at: -5 * MINUTE }), [200, 'valid'])
  t.strictSame([...receiver.events.keys()], ['evt_1', 'evt_2'])
  t.equal(receiver.deliveries.length, 3)
})

t.test('each fault has its own verdict', async (t) => {
  const { receiver, post } = await aReceiver(t)
  const nonce = 'ab'.repeat(32)
  const cases: [Sent, string][] = [
    [{ keyId: 'whk_2' }, 'unknown_key'],
    [{ at: 5 * MINUTE + 1 }, 'timestamp_outside_window'],
    [{ at: -5 * MINUTE - 1 }, 'timestamp_outside_window'],
    [{ nonce: 'AB'.repeat(32) }, 'nonce_repeated'],
    [{ secret: 'whsec_of_another' }, 'wrong_signature'],
    [{ sent: '{"id":"evt_1"}' }, 'wrong_signature'],
    [{ sent: '' }, 'wrong_signature'],
    [{ headerId: 'evt_9' }, 'headers_contradict_body'],
  ]
  for (const [given, fault] of cases) {
    const status = fault === 'wrong_signature' ? 401 : 503
    t.strictSame(await post(given), [status, fault], fault)
  }
  t.equal(receiver.events.size, 0)
  t.strictSame(await post({ nonce }), [200, 'valid'])
  t.strictSame(await post({ nonce }), [503, 'nonce_repeated'])
})

t.test('the signature covers the query', async (t) => {
  const { receiver } = await aReceiver(t)
  const { body, headers } = signed({ path: '/hooks?a=1' })
  await fetch(`${receiver.url}/hooks?a=2`, { method: 'POST', body, headers })
  t.equal(receiver.deliveries[0]?.verdict, 'wrong_signature')
})

t.test('an event answered with an error is not stored', async (t) => {
  const answers = [500, 200]
  const { receiver, post } = await aReceiver(t, () => answers.shift() ?? 200)
  t.strictSame(await post({}), [500, 'valid'])
  t.equal(receiver.events.size, 0)
  t.strictSame(await post({}), [200, 'valid'])
  t.equal(receiver.events.size, 1)
})
