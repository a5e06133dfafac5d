/**
 * POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret: a new secret, shown only here, that signs
 * from a given time.
 */
import { accepted } from '../../src/base/errors.js'
import { readOptionalBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { timestampOf, roundUp } from '../../src/requests/timestamp.js'
import { checkRotateSecret } from '../../src/requests/webhook_endpoints.js'

export const webhookEndpointsRotateSecret: Handler = {
  decode: ({ request, id }) => {
    const body = readOptionalBody(request.body, checkRotateSecret)
    if (!body.ok) return body
    const at = timestampOf(body.value.activate_at ?? '')
    const activation = at === undefined ? {} : { activate_at: roundUp(at) }
    return accepted({ rotate_webhook_secret: { endpoint_id: id, ...activation } })
  },
  success: () => OK,
}
