/** POST /v1/webhook_endpoints/{endpoint_id}/enable: what it held comes now. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../route.js'

export const webhookEndpointsEnable: Handler = {
  decode: ({ exchange, id }) =>
    withoutBody(exchange.body, { enable_webhook_endpoint: { endpoint_id: id } }),
  success: () => OK,
}
