/**
 * POST /v1/payment_intents/{intent_id}/cancel: cancels an intent before its payment is submitted.
 */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const intentsCancel: Handler = {
  decode: ({ request, id }) => withoutBody(request.body, { cancel_intent: { intent_id: id } }),
  success: () => OK,
}
