/** GET /v1/payouts: a page of those that pass the filters, newest first. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../route.js'
import { readPayouts } from '../schemas/lists.js'

export const payoutsList: Handler = {
  decode: ({ exchange }) => {
    const list = readPayouts(exchange.query)
    return list.ok ? withoutBody(exchange.body, { list_payouts: list.value }) : list
  },
  success: () => OK,
  waitsBesideCycle: true,
}
