/** POST /v1/webhook_endpoints/{endpoint_id}/enable: resumes delivery, held events included. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const webhookEndpointsEnable: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { enable_webhook_endpoint: { endpoint_id: id } }),
  success: () => OK,
}
