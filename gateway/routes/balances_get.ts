/** GET /v1/balances: available and reserved amount of each currency. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const balancesGet: Handler = {
  decode: ({ request }) => withoutBody(request.body, { get_balances: {} }),
  success: () => OK,
}
