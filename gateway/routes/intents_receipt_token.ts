/**
 * POST /v1/payment_intents/{intent_id}/receipt_token: a token for all receipts of the intent's
 * user.
 */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const intentsReceiptToken: Handler = {
  decode: ({ request, id }) => withoutBody(request.body, { mint_receipt_token: { intent_id: id } }),
  success: () => OK,
}
