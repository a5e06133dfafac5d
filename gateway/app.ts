/**
 * The partner API at a glance.
 *
 * Owns: the route table. Does not own: the way of a call (call), what a route does (routes/).
 */
import { BODY_MAX_BYTES, PAYOUT_BODY_MAX_BYTES, SCAN_BODY_MAX_BYTES } from '../src/base/bounds.js'
import { serveCall, type CallOptions } from './call.js'
import { IDEMPOTENCY_KEY } from './decode/idempotency_key.js'
import type { Service } from './exchange.js'
import { createRouter, get, post, type Destination } from './route.js'
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

const SMALL = BODY_MAX_BYTES
const SCAN = SCAN_BODY_MAX_BYTES
const LARGE = PAYOUT_BODY_MAX_BYTES

// prettier-ignore
export const ROUTES = [
  post('/v1/payment_intents',                     'hmac',            SMALL, intentsCreate),
  get( '/v1/payment_intents/{intent_id}',         'hmac_or_session', SMALL, intentsGet),
  post('/v1/payment_intents/{intent_id}/scan',    'session',         SCAN,  intentsScan),
  post('/v1/payment_intents/{intent_id}/confirm', 'session',         SMALL, intentsConfirm),
  post('/v1/payment_intents/{intent_id}/cancel',  'hmac',            SMALL, intentsCancel),
  post('/v1/beneficiaries',                       'hmac',            SMALL, beneficiariesCreate),
  post('/v1/payouts',                             'hmac',            LARGE, payoutsCreate),
  get( '/v1/payouts/{payout_id}',                 'hmac',            SMALL, payoutsGet),
  post('/v1/payouts/{payout_id}/cancel',          'hmac',            SMALL, payoutsCancel),
  get( '/v1/balances',                            'hmac',            SMALL, balancesGet),
  post('/v1/webhook_endpoints',                   'hmac',            SMALL, webhookEndpointsCreate),
  get( '/v1/webhook_endpoints',                   'hmac',            SMALL, webhookEndpointsList),
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
