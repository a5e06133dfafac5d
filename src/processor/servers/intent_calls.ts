/**
 * Internal callers' operations on payment intents.
 *
 * - A scan, a confirm and a receipt take the token of the user's session, as from an app.
 */
import type { PaymentIntentsHandlers } from '../../../protos/types/causeway/v1/PaymentIntents.js'
import { INTENT_IDEMPOTENCY_KEY_MAX as KEY_MAX } from '../../base/constants.js'
import {
  checkConfirm,
  checkCreateIntent,
  checkRemintSession,
  checkScan,
} from '../../requests/intents.js'
import { checkIntents } from '../../requests/lists.js'
import { confirmIntent } from '../commands/intents/intent_confirm.js'
import { scanIntent } from '../commands/intents/intent_scan.js'
import { bySession, receiptByToken, type SessionProof } from '../commands/intents/token_commands.js'
import { faultIn, firstFault, listFault, optionalKeyFault } from './message_check.js'
import { command, given, operation, type PartnerCall } from './partner_call.js'

export const intentCalls = (call: PartnerCall): PaymentIntentsHandlers => ({
  Create: call(({ intent }, ctx) =>
    given(ctx, 'create_intent', 'intent', intent, (message) =>
      firstFault(
        optionalKeyFault(message.idempotency_key, KEY_MAX),
        faultIn(message, checkCreateIntent),
      ),
    ),
  ),
  Get: call(({ intent_id }, ctx) => operation(ctx, 'get_intent', { intent_id })),
  Cancel: call(({ intent_id }, ctx) => operation(ctx, 'cancel_intent', { intent_id })),
  Refund: call(({ refund }, ctx) =>
    given(ctx, 'refund_intent', 'refund', refund, ({ idempotency_key: key }) =>
      optionalKeyFault(key, KEY_MAX),
    ),
  ),
  ListByUser: call(({ partner_user_id, limit, cursor }, ctx) => {
    const list = {
      partner_user_id,
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    }
    const refusal = listFault(list, checkIntents)
    return refusal === null ? operation(ctx, 'list_intents', list) : { refusal }
  }),
  List: call(({ list }, ctx) =>
    given(ctx, 'list_intents', 'list', list, (message) => listFault(message, checkIntents)),
  ),
  RemintSession: call(({ session }, ctx) =>
    given(ctx, 'remint_session', 'session', session, (message) =>
      faultIn(message, checkRemintSession),
    ),
  ),
  Scan: call((request, { tenant, now }) => {
    const violation = faultIn(request, checkScan)?.violation ?? null
    const scanOf = (session_jti: string) => scanIntent(tenant, { ...request, session_jti }, now)
    return command(bySession(tenant, proofOf(request), scanOf, violation))
  }),
  Confirm: call((request, { tenant, now }) => {
    const keyFault = optionalKeyFault(request.idempotency_key, KEY_MAX)
    const violation = firstFault(keyFault, faultIn(request, checkConfirm))?.violation ?? null
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

const proofOf = (request: {
  readonly intent_id: string
  readonly session_token: string
  readonly app_package?: string
}): SessionProof => ({
  intentId: request.intent_id,
  token: request.session_token,
  appPackage: request.app_package,
})
