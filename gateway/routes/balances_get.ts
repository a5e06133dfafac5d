/** GET /v1/balances: what each currency has available and reserved. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const balancesGet: Handler = {
  decode: ({ request }) => withoutBody(request.body, { get_balances: {} }),
  success: () => OK,
}
