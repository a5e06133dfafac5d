/**
 * Internal callers' operations on payment intents.
 *
 * - A scan, a confirm and a receipt take the token of the user's session, as from an app.
 */
import type { PaymentIntentsHandlers } from '../../../protos/types/causeway/v1/PaymentIntents.js'
import {
  INTENT_IDEMPOTENCY_KEY_MAX as KEY_MAX,
  PARTNER_USER_ID_MAX,
  QR_PAYLOAD_MAX,
} from '../../base/constants.js'
import type { Violation } from '../../base/errors.js'
import { isWithin } from '../../base/text.js'
import { parseInt64 } from '../../money/money.js'
import { confirmIntent } from '../commands/intents/intent_confirm.js'
import { scanIntent } from '../commands/intents/intent_scan.js'
import { bySession, receiptByToken, type SessionProof } from '../commands/intents/token_commands.js'
import { command, given, operation, required, textOf, type PartnerCall } from './partner_call.js'

export const intentCalls = (call: PartnerCall): PaymentIntentsHandlers => ({
  Create: call(({ intent }, ctx) =>
    given(ctx, 'create_intent', 'intent', intent, [
      ...textOf('intent.partner_user_id', intent?.partner_user_id, PARTNER_USER_ID_MAX),
      ...textOf('intent.idempotency_key', intent?.idempotency_key, KEY_MAX),
    ]),
  ),
  Get: call(({ intent_id }, ctx) => operation(ctx, 'get_intent', { intent_id })),
  Cancel: call(({ intent_id }, ctx) => operation(ctx, 'cancel_intent', { intent_id })),
  Refund: call(({ refund }, ctx) =>
    given(
      ctx,
      'refund_intent',
      'refund',
      refund,
      textOf('refund.idempotency_key', refund?.idempotency_key, KEY_MAX),
    ),
  ),
  ListByUser: call(({ partner_user_id: user, limit, cursor }, ctx) => {
    if (user === '') return [required('partner_user_id')]
    return operation(ctx, 'list_intents', {
      partner_user_id: user,
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    })
  }),
  List: call(({ list }, ctx) =>
    given(
      ctx,
      'list_intents',
      'list',
      list,
      textOf('list.partner_user_id', list?.partner_user_id, PARTNER_USER_ID_MAX),
    ),
  ),
  RemintSession: call(({ session }, ctx) => given(ctx, 'remint_session', 'session', session)),
  Scan: call((request, { tenant, now }) => {
    const { qr_payload: payload, local_amount_minor_units: amount } = request
    const isPayload = payload !== '' && isWithin(payload, QR_PAYLOAD_MAX)
    const isAmount = amount === undefined || parseInt64(amount) !== undefined
    const violation = firstOf(
      violationOf(isPayload, '/qr_payload', `must have 1 to ${QR_PAYLOAD_MAX} characters`),
      violationOf(isAmount, '/local_amount_minor_units', 'must be a 64-bit integer'),
    )
    const scanOf = (session_jti: string) => scanIntent(tenant, { ...request, session_jti }, now)
    return command(bySession(tenant, proofOf(request), scanOf, violation))
  }),
  Confirm: call((request, { tenant, now }) => {
    const { idempotency_key: key, quote_id, quote_version } = request
    const isKey = key === undefined || (key !== '' && isWithin(key, KEY_MAX))
    const violation = firstOf(
      violationOf(isKey, '/idempotency_key', `must have 1 to ${KEY_MAX} characters`),
      violationOf(quote_id !== '', '/quote_id', 'must not be empty'),
      violationOf(quote_version !== 0, '/quote_version', 'must be positive'),
    )
    const confirmOf = (session_jti: string) =>
      confirmIntent(tenant, { ...request, session_jti }, now)
    return command(bySession(tenant, proofOf(request), confirmOf, violation))
  }),
  MintReceiptToken: call(({ intent_id }, ctx) =>
    operation(ctx, 'mint_receipt_token', { intent_id }),
  ),
  GetReceipt: call(({ intent_id, receipt_token }, { tenant }) =>
    command(receiptByToken(tenant, intent_id, receipt_token)),
  ),
})

const violationOf = (holds: boolean, pointer: string, rule: string): Violation | null =>
  holds ? null : { pointer, rule }

const firstOf = (...violations: readonly (Violation | null)[]): Violation | null =>
  violations.find((violation) => violation !== null) ?? null

const proofOf = (request: {
  readonly intent_id: string
  readonly session_token: string
  readonly app_package?: string
}): SessionProof => ({
  intentId: request.intent_id,
  token: request.session_token,
  appPackage: request.app_package,
})
