/** GET /v1/webhook_endpoints/{endpoint_id}: the current endpoint, without its secret. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const webhookEndpointsGet: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { get_webhook_endpoint: { endpoint_id: id } }),
  success: () => OK,
}
