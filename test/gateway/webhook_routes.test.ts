/**
 * Webhook endpoint and event routes: the command that each sends, and the requests that it rejects
 * itself.
 */
import t from 'tap'
import { EVENT_TYPES } from '../../src/base/event_types.js'
import { call, type HttpCall } from './signing_partner.js'
import { startGateway } from './running_gateway.js'
import { refuseWith } from './processor_stub.js'

const ENDPOINT = '/v1/webhook_endpoints/we_1'
const body = (value: unknown): { body: string } => ({ body: JSON.stringify(value) })
const url = 'https://example.com/hooks?a=b'

/** Method, path, body; expected status; the operation with its relevant members. */
const CASES: readonly (readonly [HttpCall, number, object])[] = [
  [
    { method: 'POST', path: '/v1/webhook_endpoints', ...body({ url }) },
    201,
    { create_webhook_endpoint: { url, enabled_events: [], api_version: undefined } },
  ],
  [
    {
      method: 'POST',
      path: '/v1/webhook_endpoints',
      ...body({ url, enabled_events: ['*', ...EVENT_TYPES], api_version: '2026-11-01' }),
    },
    201,
    {
      create_webhook_endpoint: { enabled_events: ['*', ...EVENT_TYPES], api_version: '2026-11-01' },
    },
  ],
  [{ method: 'GET', path: '/v1/webhook_endpoints' }, 200, { list_webhook_endpoints: {} }],
  [{ method: 'GET', path: ENDPOINT }, 200, { get_webhook_endpoint: { endpoint_id: 'we_1' } }],
  [
    { method: 'PATCH', path: ENDPOINT, ...body({ description: '' }) },
    200,
    {
      update_webhook_endpoint: {
        ...{ endpoint_id: 'we_1', description: '', url: undefined, api_version: undefined },
        enabled_events: null,
      },
    },
  ],
  [
    { method: 'PATCH', path: ENDPOINT, ...body({ url, enabled_events: [] }) },
    200,
    { update_webhook_endpoint: { url, enabled_events: { types: [] } } },
  ],
  [{ method: 'DELETE', path: ENDPOINT }, 200, { delete_webhook_endpoint: { endpoint_id: 'we_1' } }],
  [
    { method: 'POST', path: `${ENDPOINT}/enable`, ...body({}) },
    200,
    { enable_webhook_endpoint: { endpoint_id: 'we_1' } },
  ],
  [
    { method: 'POST', path: `${ENDPOINT}/disable` },
    200,
    { disable_webhook_endpoint: { endpoint_id: 'we_1' } },
  ],
  [
    { method: 'POST', path: `${ENDPOINT}/rotate_secret` },
    200,
    { rotate_webhook_secret: { endpoint_id: 'we_1', activate_at: undefined } },
  ],
  [
    {
      method: 'POST',
      path: `${ENDPOINT}/rotate_secret`,
      ...body({ activate_at: '2026-11-21T11:35:40.1231+07:00' }),
    },
    200,
    { rotate_webhook_secret: { activate_at: '1795235740124' } },
  ],
  [
    { method: 'POST', path: `${ENDPOINT}/test` },
    202,
    { test_webhook_endpoint: { endpoint_id: 'we_1' } },
  ],
  [
    { method: 'GET', path: `${ENDPOINT}/deliveries?limit=7&cursor=a.b` },
    200,
    { list_deliveries: { endpoint_id: 'we_1', limit: 7, cursor: 'a.b' } },
  ],
  [
    {
      method: 'POST',
      path: `${ENDPOINT}/recover`,
      ...body({ since: '2026-11-21T04:35:40.1239Z' }),
    },
    202,
    { recover_webhook_endpoint: { endpoint_id: 'we_1', since: '1795235740123' } },
  ],
  [{ method: 'GET', path: '/v1/events' }, 200, { list_events: { after: '0', limit: undefined } }],
  [
    { method: 'GET', path: '/v1/events?after=41&limit=100' },
    200,
    { list_events: { after: '41', limit: 100 } },
  ],
  [
    { method: 'POST', path: '/v1/events/evt_1/resend' },
    202,
    { resend_event: { event_id: 'evt_1', endpoint_id: undefined } },
  ],
  [
    { method: 'POST', path: '/v1/events/evt_1/resend', ...body({ endpoint_id: 'we_1' }) },
    202,
    { resend_event: { event_id: 'evt_1', endpoint_id: 'we_1' } },
  ],
]

t.test('each route sends its own operation and answers with its own status', async (t) => {
  const gateway = await startGateway(t)
  for (const [request, status, operation] of CASES) {
    const { status: given } = await call(gateway.port, request)
    const name = `${request.method} ${request.path} ${request.body ?? ''}`
    t.equal(given, status, name)
    t.match(gateway.processorStub.commands.at(-1), operation, name)
  }
})

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
const REFUSED: readonly (readonly [string, string, readonly unknown[]])[] = [
  ['POST', '/v1/webhook_endpoints', [undefined, {}, [], ...SECRETS]],
  ['POST', '/v1/webhook_endpoints', [...URLS, 7, null].map((each) => ({ url: each }))],
  ['POST', '/v1/webhook_endpoints', FILTERS.map((enabled_events) => ({ url, enabled_events }))],
  [
    'POST',
    '/v1/webhook_endpoints',
    [
      { url, api_version: 'v1' },
      { url, api_version: 20261101 },
    ],
  ],
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
      const sent = given === undefined ? {} : body(given)
      const { status, json } = await call(gateway.port, { method, path, ...sent })
      const name = `${method} ${path} ${JSON.stringify(given)}`
      t.match([status, json], [400, { error: { code: 'invalid_request' } }], name)
      t.match(
        gateway.processorStub.commands.at(-1),
        { consume_nonce_only: true, operation: undefined },
        name,
      )
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
    const answer = await call(gateway.port, { method: 'POST', path: `${ENDPOINT}/test` })
    t.match([answer.status, answer.json], [status, { error: { code } }])
  }
})

t.test('a wrong method is answered with the allowed ones', async (t) => {
  const gateway = await startGateway(t)
  const { status, headers } = await call(gateway.port, { method: 'PUT', path: ENDPOINT })
  t.equal(status, 405)
  t.equal(headers.get('allow'), 'GET, PATCH, DELETE')
})
