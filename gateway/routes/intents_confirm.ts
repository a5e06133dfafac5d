/**
 * POST /v1/payment_intents/{intent_id}/confirm: debits the partner, once per token; idempotent with
 * the same key.
 */
import { INTENT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { accepted } from '../../src/base/errors.js'
import { readOptionalBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, optionalKey } from '../decode/idempotency_key.js'
import { OK, type Handler } from '../routing/route.js'
import { checkConfirm } from '../../src/requests/intents.js'

export const intentsConfirm: Handler = {
  decode: ({ request, id, sessionJti }) => {
    const key = optionalKey(request.header(IDEMPOTENCY_KEY), INTENT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    const body = readOptionalBody(request.body, checkConfirm)
    if (!body.ok) return body
    return accepted({
      confirm_intent: {
        ...body.value,
        intent_id: id,
        session_jti: sessionJti,
        ...(key.value === undefined ? {} : { idempotency_key: key.value }),
      },
    })
  },
  success: () => OK,
  keyMaxLength: INTENT_IDEMPOTENCY_KEY_MAX,
  refusesAsConflict: true,
}
