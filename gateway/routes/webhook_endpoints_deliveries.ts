/** GET /v1/webhook_endpoints/{endpoint_id}/deliveries: its deliveries, each with its attempts. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { readPage } from '../schemas/lists.js'

export const webhookEndpointsDeliveries: Handler = {
  decode: ({ request, id }) => {
    const page = readPage(request.query)
    if (!page.ok) return page
    return withoutBody(request.body, { list_deliveries: { endpoint_id: id, ...page.value } })
  },
  success: () => OK,
  runsOutsideCycle: true,
}
