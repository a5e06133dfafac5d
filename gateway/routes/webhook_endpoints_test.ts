/** POST /v1/webhook_endpoints/{endpoint_id}/test: an event to this endpoint alone. */
import { withoutBody } from '../decode/body.js'
import { ACCEPTED, type Handler } from '../route.js'

export const webhookEndpointsTest: Handler = {
  decode: ({ exchange, id }) =>
    withoutBody(exchange.body, { test_webhook_endpoint: { endpoint_id: id } }),
  success: () => ACCEPTED,
}
