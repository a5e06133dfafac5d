/**
 * GET /v1/webhook_endpoints: all endpoints of the tenant; at most 16, so without pages and query.
 */
import { refused } from '../../src/base/errors.js'
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const webhookEndpointsList: Handler = {
  decode: ({ request }) => {
    if (request.query !== '') return refused('invalid_request')
    return withoutBody(request.body, { list_webhook_endpoints: {} })
  },
  success: () => OK,
}
