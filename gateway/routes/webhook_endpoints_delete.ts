/** DELETE /v1/webhook_endpoints/{endpoint_id}: nothing more is delivered to it, for good. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const webhookEndpointsDelete: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { delete_webhook_endpoint: { endpoint_id: id } }),
  success: () => OK,
}
