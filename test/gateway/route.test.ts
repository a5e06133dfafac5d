/** The route table: paths, methods, metric labels, body caps. */
import t from 'tap'
import {
  BODY_MAX_BYTES,
  PAYOUT_BODY_MAX_BYTES,
  SCAN_BODY_MAX_BYTES,
} from '../../src/base/constants.js'
import { ROUTES } from '../../gateway/app.js'
import { createRouter } from '../../gateway/routing/route.js'

const find = createRouter(ROUTES)

t.test('every route of the table is found at its path', async (t) => {
  for (const entry of ROUTES) {
    const destination = find(entry.method, entry.path.replace(/\{[a-z_]+\}/, 'some-id'))
    t.match(
      destination,
      entry.auth === 'none' ? { kind: 'local' } : { kind: 'operation', route: entry },
      `${entry.method} ${entry.path}`,
    )
    t.equal(destination.id, entry.path.includes('{') ? 'some-id' : '')
    t.equal(destination.name, `${entry.method} ${entry.path}`)
  }
})

t.test('paths are matched as sent', async (t) => {
  const cases = [
    '/',
    '',
    '/v1',
    '/v1/payment_intents/',
    '/v1//payment_intents',
    '/V1/payment_intents',
    '/v1/payment_intents/a/b/scan',
    '/v1/payment_intents//scan',
    '/v1/payment_intents/scan/',
    '/v1/payouts/a/cancel/',
    '/v1/payout%73',
    '/v1/./payouts',
    '/v1/payouts;x=1',
    'v1/payouts',
  ]
  for (const path of cases) {
    t.match(find('POST', path), { kind: 'no_route', code: 'not_found' }, path)
  }
  t.equal(find('GET', '/v1/payouts/%2e%2e').id, '%2e%2e', 'a parameter is not decoded')
  t.equal(find('GET', '/v1/payouts/cancel').id, 'cancel')
})

t.test('a wrong method is answered with the allowed ones', async (t) => {
  for (const method of ['PUT', 'get', 'HEAD', 'constructor', '']) {
    const destination = find(method, '/v1/webhook_endpoints')
    t.match(
      destination,
      { kind: 'no_route', code: 'method_not_allowed', headers: [['Allow', 'POST, GET']] },
      method,
    )
  }
  const { headers } = find('PUT', '/v1/webhook_endpoints/we_1') as { headers?: unknown }
  t.same(headers, [['Allow', 'GET, PATCH, DELETE']])
  const { name } = find('DELETE', '/v1/payouts')
  t.equal(name, 'wrong_method', 'metric labels contain no text of a caller')
  t.equal(find('GET', '/x').name, 'unknown')
})

t.test('body caps depend on the route', async (t) => {
  const capOf = (method: string, path: string): number => find(method, path).bodyMaxBytes
  t.equal(capOf('POST', '/v1/payouts'), PAYOUT_BODY_MAX_BYTES)
  t.equal(capOf('POST', '/v1/payment_intents/a/scan'), SCAN_BODY_MAX_BYTES)
  t.equal(capOf('POST', '/v1/payment_intents'), BODY_MAX_BYTES)
  t.equal(capOf('POST', '/nowhere'), BODY_MAX_BYTES)
})
