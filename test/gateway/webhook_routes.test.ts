/** Webhook endpoint and event routes: the requests that they reject themselves, and errors. */
import t from 'tap'
import { call, post } from './signing_partner.js'
import { startGateway } from './running_gateway.js'
import { refuseWith } from './processor_stub.js'

const ENDPOINT = '/v1/webhook_endpoints/we_1'
const url = 'https://example.com/hooks?a=b'

const SECRETS = [
  { url, secret: 'whsec_mine' },
  { url, status: 'disabled' },
  { url, id: 'we_2' },
]
const URLS = [
  '',
  'example.com',
  'ftp://x/',
  'https://',
  'https://u@x/',
  'https://x/#a',
  'https://x y/',
]
const FILTERS = ['*', ['payout'], ['payout.paid'], ['payout.*'], ['*', '*'], [''], [1], null]
const REFUSED: readonly (readonly [string, string, readonly (object | undefined)[]])[] = [
  ['POST', '/v1/webhook_endpoints', [undefined, {}, [], ...SECRETS]],
  ['POST', '/v1/webhook_endpoints', [...URLS, 7, null].map((each) => ({ url: each }))],
  ['POST', '/v1/webhook_endpoints', FILTERS.map((enabled_events) => ({ url, enabled_events }))],
  ['POST', '/v1/webhook_endpoints', ['v1', 20261101].map((api_version) => ({ url, api_version }))],
  ['POST', '/v1/webhook_endpoints', [{ url, description: 'x'.repeat(501) }]],
  ['PATCH', ENDPOINT, [undefined, {}, { url: 'x' }, { url: null }, { enabled_events: ['a'] }]],
  ['PATCH', ENDPOINT, [{ status: 'disabled' }, { description: 1 }]],
  ['POST', `${ENDPOINT}/enable`, [{ status: 'enabled' }]],
  ['POST', `${ENDPOINT}/test`, [{ type: 'payout.created' }]],
  ['POST', `${ENDPOINT}/rotate_secret`, [{ activate_at: 'soon' }, { activate_at: 5 }, { at: '' }]],
  ['POST', `${ENDPOINT}/recover`, [undefined, {}, { since: 0 }, { since: '2026-11-21' }]],
  ['POST', `${ENDPOINT}/recover`, [{ since: '2026-11-21T04:35:40Z', until: '' }]],
  ['POST', '/v1/events/evt_1/resend', [{ endpoint_id: '' }, { endpoint_id: 1 }, { to: 'we_1' }]],
  ['GET', `${ENDPOINT}/deliveries?limit=0`, [undefined]],
  ['GET', `${ENDPOINT}/deliveries?status=dead`, [undefined]],
  ['GET', '/v1/webhook_endpoints?limit=5', [undefined]],
  ['GET', '/v1/events?after=-1', [undefined]],
  ['GET', '/v1/events?after=01', [undefined]],
  ['GET', '/v1/events?after=1e3', [undefined]],
  ['GET', '/v1/events?after=1&after=2', [undefined]],
  ['GET', '/v1/events?cursor=a', [undefined]],
  ['GET', '/v1/events?limit=101', [undefined]],
]

t.test('an invalid request is a 400 that only consumes its nonce', async (t) => {
  const gateway = await startGateway(t)
  for (const [method, path, bodies] of REFUSED) {
    for (const given of bodies) {
      const { status, json } = await call(gateway.port, { ...post(path, given), method })
      const name = `${method} ${path} ${JSON.stringify(given)}`
      const error = { code: 'invalid_request', message: /: (must|is|has) / }
      t.match([status, json], [400, { error }], name)
      const [command] = gateway.processorStub.commands.slice(-1)
      t.match(command, { consume_nonce_only: true, operation: undefined }, name)
    }
  }
})

t.test('an error of the processor has the status of its code', async (t) => {
  const gateway = await startGateway(t)
  for (const [code, status] of [
    ['webhook_endpoint_not_found', 404],
    ['event_not_found', 404],
    ['webhook_endpoint_limit', 409],
    ['webhook_endpoint_disabled', 409],
    ['configuration_error', 503],
    ['timeout', 504],
  ] as const) {
    gateway.processorStub.script = refuseWith(code)
    const answer = await call(gateway.port, post(`${ENDPOINT}/test`))
    t.match([answer.status, answer.json], [status, { error: { code } }])
  }
})
