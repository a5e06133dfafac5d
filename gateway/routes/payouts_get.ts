/** GET /v1/payouts/{payout_id}: the current payout. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const payoutsGet: Handler = {
  decode: ({ request, id }) => withoutBody(request.body, { get_payout: { payout_id: id } }),
  success: () => OK,
}
