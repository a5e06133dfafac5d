/** POST /v1/webhook_endpoints/{endpoint_id}/disable: holds its events until it is enabled. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const webhookEndpointsDisable: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { disable_webhook_endpoint: { endpoint_id: id } }),
  success: () => OK,
}
