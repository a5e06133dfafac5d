/** GET /v1/payment_intents: intents that match the filters, newest first. */
import { withoutBody } from '../decode/body.js'
import { readQuery } from '../decode/query.js'
import { OK, type Handler } from '../routing/route.js'
import { readIntents } from '../../src/requests/lists.js'

export const intentsList: Handler = {
  decode: ({ request }) => {
    const list = readQuery(request.query, readIntents)
    return list.ok ? withoutBody(request.body, { list_intents: list.value }) : list
  },
  success: () => OK,
  runsOutsideCycle: true,
}
