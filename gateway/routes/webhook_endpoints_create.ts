/** POST /v1/webhook_endpoints: registers an endpoint. The answer shows its secret. */
import { PAYOUT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, optionalKey } from '../decode/idempotency_key.js'
import { CREATED, type Handler } from '../routing/route.js'
import { checkCreateWebhookEndpoint } from '../../src/requests/webhook_endpoints.js'

export const webhookEndpointsCreate: Handler = {
  decode: ({ request }) => {
    const key = optionalKey(request.header(IDEMPOTENCY_KEY), PAYOUT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    const body = readBody(request.body, checkCreateWebhookEndpoint)
    if (!body.ok) return body
    const { enabled_events, ...endpoint } = body.value
    return accepted({
      create_webhook_endpoint: {
        ...endpoint,
        enabled_events: [...(enabled_events ?? [])],
        ...(key.value === undefined ? {} : { idempotency_key: key.value }),
      },
    })
  },
  success: () => CREATED,
  keyMaxLength: PAYOUT_IDEMPOTENCY_KEY_MAX,
}
