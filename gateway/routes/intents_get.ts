/** GET /v1/payment_intents/{intent_id}: the current intent. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const intentsGet: Handler = {
  decode: ({ request, id }) => withoutBody(request.body, { get_intent: { intent_id: id } }),
  success: () => OK,
}
