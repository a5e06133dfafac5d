/** GET /v1/balances: what each currency has available and reserved. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../route.js'

export const balancesGet: Handler = {
  decode: ({ exchange }) => withoutBody(exchange.body, { get_balances: {} }),
  success: () => OK,
}
