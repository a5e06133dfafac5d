/** GET /v1/payouts/{payout_id}: the payout as it is now. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../route.js'

export const payoutsGet: Handler = {
  decode: ({ exchange, id }) => withoutBody(exchange.body, { get_payout: { payout_id: id } }),
  success: () => OK,
}
