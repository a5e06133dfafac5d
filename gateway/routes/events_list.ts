/** GET /v1/events: the tenant's events after a number, in order. */
import { withoutBody } from '../decode/body.js'
import { readQuery } from '../decode/query.js'
import { OK, type Handler } from '../routing/route.js'
import { readEvents } from '../../src/requests/events.js'

export const eventsList: Handler = {
  decode: ({ request }) => {
    const list = readQuery(request.query, readEvents)
    return list.ok ? withoutBody(request.body, { list_events: list.value }) : list
  },
  success: () => OK,
  runsOutsideCycle: true,
}
