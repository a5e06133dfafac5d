/** GET /v1/events: the tenant's events behind a number, in their order, as they are delivered. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../route.js'
import { readEvents } from '../schemas/events.js'

export const eventsList: Handler = {
  decode: ({ exchange }) => {
    const list = readEvents(exchange.query)
    return list.ok ? withoutBody(exchange.body, { list_events: list.value }) : list
  },
  success: () => OK,
  waitsBesideCycle: true,
}
