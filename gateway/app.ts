/**
 * The route table of the partner API.
 *
 * A new operation is one line here, one file in routes/, a schema in src/requests if it takes a
 * body or a query, and a description in openapi/operations/ with the schema of its answer in
 * answers/.
 */
import { PAYOUT_BODY_MAX_BYTES, SCAN_BODY_MAX_BYTES } from '../src/base/constants.js'
import { AUTHORIZATION } from './authentication/authenticate.js'
import type { StaticFiles } from './docs/static_file.js'
import { namesOf } from './http/headers.js'
import {
  handleRequest,
  rejectEarly,
  type RequestHandlerOptions,
} from './upstream/request_handler.js'
import { IDEMPOTENCY_KEY } from './decode/idempotency_key.js'
import { ACCEPT_ENCODING, CLIENT_REQUEST_ID, FORWARDED_FOR, IF_NONE_MATCH } from './http/head.js'
import type { Service } from './http/server.js'
import {
  createRouter,
  get,
  local,
  localGet,
  patch,
  post,
  remove,
  type AnyRoute,
  type RouteMatch,
} from './routing/route.js'
import { accountGet } from './routes/account_get.js'
import { balanceTransactionsList } from './routes/balance_transactions_list.js'
import { balancesGet } from './routes/balances_get.js'
import { beneficiariesCreate } from './routes/beneficiaries_create.js'
import { beneficiariesDisable } from './routes/beneficiaries_disable.js'
import { beneficiariesGet } from './routes/beneficiaries_get.js'
import { beneficiariesList } from './routes/beneficiaries_list.js'
import { eventsList } from './routes/events_list.js'
import { eventsResend } from './routes/events_resend.js'
import { fundingDepositsCreate } from './routes/funding_deposits_create.js'
import { fxConversionsCreate } from './routes/fx_conversions_create.js'
import { fxQuotesCreate } from './routes/fx_quotes_create.js'
import { intentsCancel } from './routes/intents_cancel.js'
import { intentsConfirm } from './routes/intents_confirm.js'
import { intentsCreate } from './routes/intents_create.js'
import { intentsGet } from './routes/intents_get.js'
import { intentsList } from './routes/intents_list.js'
import { intentsReceipt } from './routes/intents_receipt.js'
import { intentsReceiptToken } from './routes/intents_receipt_token.js'
import { intentsRefund } from './routes/intents_refund.js'
import { intentsRemint } from './routes/intents_remint.js'
import { intentsScan } from './routes/intents_scan.js'
import { openApiGet } from './routes/openapi_get.js'
import { payoutsCancel } from './routes/payouts_cancel.js'
import { payoutsCreate } from './routes/payouts_create.js'
import { payoutsGet } from './routes/payouts_get.js'
import { payoutsList } from './routes/payouts_list.js'
import { sandboxPayoutsSimulate } from './routes/sandbox_payouts_simulate.js'
import { sandboxRequestCheck } from './routes/sandbox_request_check.js'
import { sandboxSignatureCheck } from './routes/sandbox_signature_check.js'
import { webhookEndpointsCreate } from './routes/webhook_endpoints_create.js'
import { webhookEndpointsDelete } from './routes/webhook_endpoints_delete.js'
import { webhookEndpointsDeliveries } from './routes/webhook_endpoints_deliveries.js'
import { webhookEndpointsDisable } from './routes/webhook_endpoints_disable.js'
import { webhookEndpointsEnable } from './routes/webhook_endpoints_enable.js'
import { webhookEndpointsGet } from './routes/webhook_endpoints_get.js'
import { webhookEndpointsList } from './routes/webhook_endpoints_list.js'
import { webhookEndpointsRecover } from './routes/webhook_endpoints_recover.js'
import { webhookEndpointsRotateSecret } from './routes/webhook_endpoints_rotate_secret.js'
import { webhookEndpointsTest } from './routes/webhook_endpoints_test.js'
import { webhookEndpointsUpdate } from './routes/webhook_endpoints_update.js'

const SCAN = SCAN_BODY_MAX_BYTES
const LARGE = PAYOUT_BODY_MAX_BYTES

// prettier-ignore
export const ROUTES: readonly AnyRoute[] = [
  post('/v1/payment_intents',                           'hmac',            intentsCreate),
  get( '/v1/payment_intents',                           'hmac',            intentsList),
  get( '/v1/payment_intents/{intent_id}',               'hmac_or_session', intentsGet),
  post('/v1/payment_intents/{intent_id}/session',       'hmac',            intentsRemint),
  post('/v1/payment_intents/{intent_id}/scan',          'session',         intentsScan, SCAN),
  post('/v1/payment_intents/{intent_id}/confirm',       'session',         intentsConfirm),
  post('/v1/payment_intents/{intent_id}/cancel',        'hmac',            intentsCancel),
  post('/v1/payment_intents/{intent_id}/refund',        'hmac',            intentsRefund),
  post('/v1/payment_intents/{intent_id}/receipt_token', 'hmac',            intentsReceiptToken),
  get( '/v1/payment_intents/{intent_id}/receipt',       'receipt',         intentsReceipt),
  post('/v1/beneficiaries',                             'hmac',            beneficiariesCreate),
  get( '/v1/beneficiaries',                             'hmac',            beneficiariesList),
  get( '/v1/beneficiaries/{beneficiary_id}',            'hmac',            beneficiariesGet),
  post('/v1/beneficiaries/{beneficiary_id}/disable',    'hmac',            beneficiariesDisable),
  post('/v1/payouts',                                   'hmac',            payoutsCreate, LARGE),
  get( '/v1/payouts',                                   'hmac',            payoutsList),
  get( '/v1/payouts/{payout_id}',                       'hmac',            payoutsGet),
  post('/v1/payouts/{payout_id}/cancel',                'hmac',            payoutsCancel),
  get( '/v1/balances',                                  'hmac',            balancesGet),
  get( '/v1/balance_transactions',                      'hmac',            balanceTransactionsList),
  post('/v1/funding/deposits',                          'hmac',            fundingDepositsCreate),
  post('/v1/fx/quotes',                                 'hmac',            fxQuotesCreate),
  post('/v1/fx/conversions',                            'hmac',            fxConversionsCreate),
  post('/v1/webhook_endpoints',                         'hmac',            webhookEndpointsCreate),
  get( '/v1/webhook_endpoints',                         'hmac',            webhookEndpointsList),
  get( '/v1/webhook_endpoints/{endpoint_id}',           'hmac',            webhookEndpointsGet),
  patch('/v1/webhook_endpoints/{endpoint_id}',          'hmac',            webhookEndpointsUpdate),
  remove('/v1/webhook_endpoints/{endpoint_id}',         'hmac',            webhookEndpointsDelete),
  post('/v1/webhook_endpoints/{endpoint_id}/enable',    'hmac',            webhookEndpointsEnable),
  post('/v1/webhook_endpoints/{endpoint_id}/disable',   'hmac',            webhookEndpointsDisable),
  post('/v1/webhook_endpoints/{endpoint_id}/rotate_secret', 'hmac', webhookEndpointsRotateSecret),
  post('/v1/webhook_endpoints/{endpoint_id}/test',      'hmac',            webhookEndpointsTest),
  get( '/v1/webhook_endpoints/{endpoint_id}/deliveries', 'hmac', webhookEndpointsDeliveries),
  post('/v1/webhook_endpoints/{endpoint_id}/recover',   'hmac',            webhookEndpointsRecover),
  get( '/v1/events',                                    'hmac',            eventsList),
  post('/v1/events/{event_id}/resend',                  'hmac',            eventsResend),
  get( '/v1/account',                                   'hmac',            accountGet),
  post('/v1/sandbox/payouts/{payout_id}/simulate',      'hmac',            sandboxPayoutsSimulate),
  local('/v1/sandbox/signature/check', sandboxSignatureCheck),
  local('/v1/sandbox/request/check', sandboxRequestCheck),
  localGet('/openapi.json', openApiGet),
]

export interface App {
  readonly service: Service<RouteMatch>
  /** Lower-case names of the headers that the service reads. */
  readonly headers: ReadonlySet<string>
}

export interface AppOptions extends Omit<RequestHandlerOptions, 'find'> {
  /** The documentation, for the sandbox. */
  readonly docs: StaticFiles
}

export function createApp({ docs, ...given }: AppOptions): App {
  const find = createRouter(ROUTES, docs)
  const options = { ...given, find }
  return {
    service: {
      find,
      rejectEarly: (request, match) => rejectEarly(options, request, match),
      serve: (request, match) => handleRequest(options, request, match),
    },
    headers: new Set([
      ...[IDEMPOTENCY_KEY, FORWARDED_FOR, AUTHORIZATION, CLIENT_REQUEST_ID],
      ...[ACCEPT_ENCODING, IF_NONE_MATCH],
      ...namesOf(options.brandHeaders),
    ]),
  }
}
