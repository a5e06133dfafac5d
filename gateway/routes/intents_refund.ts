/**
 * POST /v1/payment_intents/{intent_id}/refund: requests the money back. The intent becomes
 * `refunded` when it arrives.
 */
import { INTENT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { withoutBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, optionalKey } from '../decode/idempotency_key.js'
import { ACCEPTED, type Handler } from '../routing/route.js'

export const intentsRefund: Handler = {
  decode: ({ request, id }) => {
    const key = optionalKey(request.header(IDEMPOTENCY_KEY), INTENT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    return withoutBody(request.body, {
      refund_intent: {
        intent_id: id,
        ...(key.value === undefined ? {} : { idempotency_key: key.value }),
      },
    })
  },
  success: () => ACCEPTED,
  keyMaxLength: INTENT_IDEMPOTENCY_KEY_MAX,
}
