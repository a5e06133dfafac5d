/** POST /v1/webhook_endpoints/{endpoint_id}/test: sends a test event to this endpoint alone. */
import { withoutBody } from '../decode/body.js'
import { ACCEPTED, type Handler } from '../routing/route.js'

export const webhookEndpointsTest: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { test_webhook_endpoint: { endpoint_id: id } }),
  success: () => ACCEPTED,
}
