/** POST /v1/webhook_endpoints: registers an endpoint. Only this answer shows its secret. */
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { CREATED, type Handler } from '../routing/route.js'
import { checkCreateWebhookEndpoint } from '../../src/requests/webhook_endpoints.js'

export const webhookEndpointsCreate: Handler = {
  decode: ({ request }) => {
    const body = readBody(request.body, checkCreateWebhookEndpoint)
    if (!body.ok) return body
    const { enabled_events, ...endpoint } = body.value
    return accepted({
      create_webhook_endpoint: { ...endpoint, enabled_events: [...(enabled_events ?? [])] },
    })
  },
  success: () => CREATED,
}
