/** PATCH /v1/webhook_endpoints/{endpoint_id}: changes the members that the body names. */
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { checkUpdateWebhookEndpoint } from '../../src/requests/webhook_endpoints.js'

export const webhookEndpointsUpdate: Handler = {
  decode: ({ request, id }) => {
    const body = readBody(request.body, checkUpdateWebhookEndpoint)
    if (!body.ok) return body
    const { enabled_events: types, ...terms } = body.value
    const filter = types === undefined ? {} : { enabled_events: { types: [...types] } }
    return accepted({ update_webhook_endpoint: { endpoint_id: id, ...terms, ...filter } })
  },
  success: () => OK,
}
