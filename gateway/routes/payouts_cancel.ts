/** POST /v1/payouts/{payout_id}/cancel: always rejected by the processor, with 404 or 409. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const payoutsCancel: Handler = {
  decode: ({ request, id }) => withoutBody(request.body, { cancel_payout: { payout_id: id } }),
  success: () => OK,
}
