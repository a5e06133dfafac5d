/**
 * Internal callers' operations on payment intents that differ from those of partners.
 *
 * - A scan, a confirm and a receipt take the token of the user's session, as from an app.
 */
import type { PaymentIntentsHandlers } from '../../../protos/types/causeway/v1/PaymentIntents.js'
import { confirmIntent } from '../commands/intents/intent_confirm.js'
import { scanIntent } from '../commands/intents/intent_scan.js'
import { bySession, receiptByToken, type SessionProof } from '../commands/intents/token_commands.js'
import { messageFault } from './message_check.js'
import { command } from './operations/action.js'
import { checked, type PartnerCall } from './partner_call.js'

type Own = 'Scan' | 'Confirm' | 'GetReceipt' | 'ListByUser'

export const intentCalls = (call: PartnerCall): Pick<PaymentIntentsHandlers, Own> => ({
  ListByUser: call(({ tenant: _, ...list }, ctx) => checked('list_intents', list, ctx)),
  Scan: call((request, { tenant, now }) => {
    const violation = messageFault('scan_intent', request)?.violation ?? null
    const scanOf = (session_jti: string) => scanIntent(tenant, { ...request, session_jti }, now)
    return command(bySession(tenant, proofOf(request), scanOf, violation))
  }),
  Confirm: call((request, { tenant, now }) => {
    const violation = messageFault('confirm_intent', request)?.violation ?? null
    const confirmOf = (session_jti: string) =>
      confirmIntent(tenant, { ...request, session_jti }, now)
    return command(bySession(tenant, proofOf(request), confirmOf, violation))
  }),
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
