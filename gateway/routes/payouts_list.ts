/** GET /v1/payouts: payouts that match the filters, newest first. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { readPayouts } from '../schemas/lists.js'

export const payoutsList: Handler = {
  decode: ({ request }) => {
    const list = readPayouts(request.query)
    return list.ok ? withoutBody(request.body, { list_payouts: list.value }) : list
  },
  success: () => OK,
  runsOutsideCycle: true,
}
