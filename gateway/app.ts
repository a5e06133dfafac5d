/**
 * The partner API at a glance.
 *
 * Owns: the route table. Does not own: the way of a call (call), what a route does (routes/).
 */
import { BODY_MAX_BYTES, PAYOUT_BODY_MAX_BYTES, SCAN_BODY_MAX_BYTES } from '../src/base/bounds.js'
import { serveCall, type CallOptions } from './call.js'
import { IDEMPOTENCY_KEY } from './decode/idempotency_key.js'
import type { Service } from './exchange.js'
import { createRouter, route, type Destination } from './route.js'
import { balancesGet } from './routes/balances_get.js'
import { beneficiariesCreate } from './routes/beneficiaries_create.js'
import { intentsCancel } from './routes/intents_cancel.js'
import { intentsConfirm } from './routes/intents_confirm.js'
import { intentsCreate } from './routes/intents_create.js'
import { intentsGet } from './routes/intents_get.js'
import { intentsScan } from './routes/intents_scan.js'
import { payoutsCancel } from './routes/payouts_cancel.js'
import { payoutsCreate } from './routes/payouts_create.js'
import { payoutsGet } from './routes/payouts_get.js'
import { webhookEndpointsCreate } from './routes/webhook_endpoints_create.js'
import { webhookEndpointsList } from './routes/webhook_endpoints_list.js'

// prettier-ignore
export const ROUTES = [
  route('POST', '/v1/payment_intents',                     'hmac',            BODY_MAX_BYTES,        intentsCreate),
  route('GET',  '/v1/payment_intents/{intent_id}',         'hmac_or_session', BODY_MAX_BYTES,        intentsGet),
  route('POST', '/v1/payment_intents/{intent_id}/scan',    'session',         SCAN_BODY_MAX_BYTES,   intentsScan),
  route('POST', '/v1/payment_intents/{intent_id}/confirm', 'session',         BODY_MAX_BYTES,        intentsConfirm),
  route('POST', '/v1/payment_intents/{intent_id}/cancel',  'hmac',            BODY_MAX_BYTES,        intentsCancel),
  route('POST', '/v1/beneficiaries',                       'hmac',            BODY_MAX_BYTES,        beneficiariesCreate),
  route('POST', '/v1/payouts',                             'hmac',            PAYOUT_BODY_MAX_BYTES, payoutsCreate),
  route('GET',  '/v1/payouts/{payout_id}',                 'hmac',            BODY_MAX_BYTES,        payoutsGet),
  route('POST', '/v1/payouts/{payout_id}/cancel',          'hmac',            BODY_MAX_BYTES,        payoutsCancel),
  route('GET',  '/v1/balances',                            'hmac',            BODY_MAX_BYTES,        balancesGet),
  route('POST', '/v1/webhook_endpoints',                   'hmac',            BODY_MAX_BYTES,        webhookEndpointsCreate),
  route('GET',  '/v1/webhook_endpoints',                   'hmac',            BODY_MAX_BYTES,        webhookEndpointsList),
]

export interface App {
  readonly service: Service<Destination>
  /** The headers that the service reads. */
  readonly headers: ReadonlySet<string>
}

export function createApp(options: CallOptions): App {
  return {
    service: {
      find: createRouter(ROUTES),
      serve: (exchange, destination) => serveCall(options, exchange, destination),
    },
    headers: new Set([IDEMPOTENCY_KEY, ...options.authenticator.headers]),
  }
}
