/** DELETE /v1/webhook_endpoints/{endpoint_id}: stops all deliveries to it, permanently. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const webhookEndpointsDelete: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { delete_webhook_endpoint: { endpoint_id: id } }),
  success: () => OK,
}
