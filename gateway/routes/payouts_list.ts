/** GET /v1/payouts: payouts that match the filters, newest first. */
import { withoutBody } from '../decode/body.js'
import { readQuery } from '../decode/query.js'
import { OK, type Handler } from '../routing/route.js'
import { readPayouts } from '../../src/requests/lists.js'

export const payoutsList: Handler = {
  decode: ({ request }) => {
    const list = readQuery(request.query, readPayouts)
    return list.ok ? withoutBody(request.body, { list_payouts: list.value }) : list
  },
  success: () => OK,
  runsOutsideCycle: true,
}
