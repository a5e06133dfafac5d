/** GET /v1/webhook_endpoints/{endpoint_id}/deliveries: its deliveries, each with its attempts. */
import { withoutBody } from '../decode/body.js'
import { readQuery } from '../decode/query.js'
import { OK, type Handler } from '../routing/route.js'
import { readPage } from '../../src/requests/lists.js'

export const webhookEndpointsDeliveries: Handler = {
  decode: ({ request, id }) => {
    const page = readQuery(request.query, readPage)
    if (!page.ok) return page
    return withoutBody(request.body, { list_deliveries: { endpoint_id: id, ...page.value } })
  },
  success: () => OK,
  runsOutsideCycle: true,
}
