/** Webhook verification of the client: signatures, window, nonces, duplicates. */
import t from 'tap'
import {
  createWebhookVerifier,
  rememberEvents,
  signatureOf,
  signRequest,
  signTestWebhook,
  type WebhookRequest,
} from '../../src/client/index.js'

const NOW = Date.parse('2026-11-21T04:35:40.000Z')
const MINUTE = 60_000
const KEY = { keyId: 'we_1_1', secret: 'whsec_first' }
const URL_OF_HOOK = '/hooks?a=b'
const EVENT = {
  ...{ id: 'evt_1', type: 'payout.completed' },
  ...{ webhook_event_id: 'evt_1', webhook_event_type: 'payout.completed' },
  ...{ api_version: '2026-11-01', created_at: '2026-11-21T04:35:40.000Z', data: { payout: {} } },
}

let nonces = 0
interface Given {
  readonly key?: typeof KEY
  readonly at?: number
  readonly nonce?: string
  readonly event?: unknown
  readonly type?: string
}

function webhook(given: Given = {}): WebhookRequest {
  const { key = KEY, at = NOW, event = EVENT, type = 'payout.completed' } = given
  const nonce = given.nonce ?? String(++nonces).padStart(64, '0')
  const body = JSON.stringify(event)
  const timestamp = new Date(at).toISOString()
  const signed = signRequest(key, 'Service', { method: 'POST', path: '/', timestamp, nonce, body })
  // A webhook is signed with its query.
  const { canonical } = signed
  const withQuery = canonical.replace('POST\n/\n', `POST\n${URL_OF_HOOK}\n`)
  const headers = {
    ...signed.headers,
    'X-Service-Signature': signatureOf(withQuery, key.secret),
    'X-Service-Webhook-Event-Id': 'evt_1',
    'X-Service-Webhook-Event-Type': type,
  }
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return {
    method: 'POST',
    url: URL_OF_HOOK,
    headers: Object.fromEntries(lower) as Record<string, string>,
    body: Buffer.from(body),
  }
}

function verifier() {
  const events = rememberEvents()
  const secrets = new Map([[KEY.keyId, KEY.secret]])
  const secretOf = (keyId: string) => secrets.get(keyId)
  return { events, verify: createWebhookVerifier({ secretOf, events, now: () => NOW }) }
}

t.test('a genuine event is verified, and a duplicate once it is stored', async (t) => {
  const { events, verify } = verifier()
  t.match(await verify(webhook()), { kind: 'verified', event: EVENT })
  t.match(
    await verify(webhook()),
    { kind: 'verified' },
    'not marked as stored: a retry is accepted',
  )
  t.ok(events.add('evt_1'))
  t.notOk(events.add('evt_1'))
  t.match(await verify(webhook()), { kind: 'duplicate', event: EVENT })
})

t.test('accepts the Headers of fetch', async (t) => {
  const { verify } = verifier()
  const request = webhook()
  const headers = new Headers(request.headers as Record<string, string>)
  t.match(await verify({ ...request, headers }), { kind: 'verified' })
})

t.test('an invalid webhook is rejected with its fault', async (t) => {
  const { verify } = verifier()
  const faultOf = async (request: WebhookRequest) => {
    const result = await verify(request)
    return result.kind === 'refused' ? result.fault : result.kind
  }
  for (const minutes of [-6, 6]) {
    const request = webhook({ at: NOW + minutes * MINUTE })
    t.equal(await faultOf(request), 'timestamp_outside_window', `${minutes} minutes`)
  }
  t.equal(await faultOf(webhook({ at: NOW - 4 * MINUTE })), 'verified')
  const nonce = 'f'.repeat(64)
  t.equal(await faultOf(webhook({ nonce })), 'verified')
  t.equal(await faultOf(webhook({ nonce })), 'nonce_repeated')
  t.equal(await faultOf(webhook({ nonce: 'short' })), 'nonce_repeated', 'a malformed nonce')
  t.equal(await faultOf(webhook({ key: { ...KEY, secret: 'other' } })), 'wrong_signature')
  t.equal(await faultOf(webhook({ key: { ...KEY, keyId: '__proto__' } })), 'unknown_key')
  const empty = createWebhookVerifier({
    secretOf: () => '',
    events: rememberEvents(),
    now: () => NOW,
  })
  const forged = await empty(webhook({ key: { ...KEY, secret: '' } }))
  t.match(forged, { fault: 'unknown_key' }, 'anyone can sign with an empty secret')
  const genuine = webhook()
  t.equal(await faultOf({ ...genuine, body: Buffer.from('{}') }), 'wrong_signature')
  t.equal(await faultOf({ ...genuine, url: '/hooks' }), 'wrong_signature', 'without its query')
  t.equal(await faultOf({ ...genuine, headers: {} }), 'unknown_key')
  t.equal(await faultOf(genuine), 'verified', 'an invalid signature consumes no nonce')
  t.equal(await faultOf(webhook({ type: 'payout.failed' })), 'headers_contradict_body')
  t.equal(await faultOf(webhook({ event: 'text' })), 'headers_contradict_body')
})

t.test('each result has the status to answer: what can heal is never final', async (t) => {
  const { events, verify } = verifier()
  const statusOf = async (request: WebhookRequest) => (await verify(request)).status
  const nonce = 'e'.repeat(64)
  t.equal(await statusOf(webhook({ nonce })), 204)
  t.equal(await statusOf(webhook({ nonce })), 503, 'a repeated nonce')
  t.equal(await statusOf(webhook({ at: NOW - 10 * MINUTE })), 503, 'a clock that is off')
  t.equal(await statusOf(webhook({ key: { ...KEY, keyId: 'we_1_2' } })), 503, 'an unknown key')
  t.equal(await statusOf(webhook({ type: 'payout.failed' })), 503, 'a changed header')
  t.equal(await statusOf(webhook({ key: { ...KEY, secret: 'other' } })), 401)
  events.add('evt_1')
  t.equal(await statusOf(webhook()), 204, 'a duplicate')
})

t.test('the duplicate filter keeps the newest events', async (t) => {
  const events = rememberEvents(2)
  for (const id of ['a', 'b', 'c']) events.add(id)
  t.same(['a', 'b', 'c'].map(events.has), [false, true, true])
})

t.test('a webhook signed for a test is verified, once, and only as it was signed', async (t) => {
  const { verify } = verifier()
  const event = {
    id: 'evt_2',
    type: 'payout.failed',
    data: { payout: { id: 'pout_1' } },
  } as const
  const options = { ...KEY, url: URL_OF_HOOK, now: () => NOW }
  const signed = signTestWebhook(event, options)
  const found = await verify(signed)
  t.match(found, { kind: 'verified', event: { ...event, webhook_event_id: 'evt_2' } })
  t.match(await verify(signed), { fault: 'nonce_repeated' })
  const other = { ...signTestWebhook(event, options), url: '/hooks?a=c' }
  t.match(await verify(other), { fault: 'wrong_signature' })
  const late = signTestWebhook(event, { ...options, now: () => NOW - 6 * MINUTE })
  t.match(await verify(late), { fault: 'timestamp_outside_window' })
})
