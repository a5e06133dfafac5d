/** POST /v1/payment_intents/{intent_id}/cancel: ends an intent whose payment is not out yet. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const intentsCancel: Handler = {
  decode: ({ request, id }) => withoutBody(request.body, { cancel_intent: { intent_id: id } }),
  success: () => OK,
}
