/** GET /v1/payment_intents: intents that match the filters, newest first. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { readIntents } from '../schemas/lists.js'

export const intentsList: Handler = {
  decode: ({ request }) => {
    const list = readIntents(request.query)
    return list.ok ? withoutBody(request.body, { list_intents: list.value }) : list
  },
  success: () => OK,
  runsOutsideCycle: true,
}
