/**
 * GET /v1/payment_intents/{intent_id}/receipt: the receipt, if the token's user owns the intent.
 */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const intentsReceipt: Handler = {
  decode: ({ request, id, receiptSubject }) =>
    withoutBody(request.body, { get_receipt: { intent_id: id, subject: receiptSubject } }),
  success: () => OK,
}
