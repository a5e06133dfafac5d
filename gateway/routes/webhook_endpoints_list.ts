/**
 * GET /v1/webhook_endpoints: all endpoints of the tenant; at most 16, so without pages and query.
 */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { withoutQuery } from '../decode/query.js'

export const webhookEndpointsList: Handler = {
  decode: ({ request }) => {
    const query = withoutQuery(request.query)
    if (!query.ok) return query
    return withoutBody(request.body, { list_webhook_endpoints: {} })
  },
  success: () => OK,
}
