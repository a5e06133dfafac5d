/** POST /v1/fx/conversions: converts at a quote, once; idempotent with the same key. */
import { PAYOUT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, requiredKey } from '../decode/idempotency_key.js'
import { CREATED, type Handler } from '../routing/route.js'
import { checkCreateFxConversion } from '../../src/requests/funding.js'

export const fxConversionsCreate: Handler = {
  decode: ({ request }) => {
    const key = requiredKey(request.header(IDEMPOTENCY_KEY), PAYOUT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    const body = readBody(request.body, checkCreateFxConversion)
    if (!body.ok) return body
    return accepted({ create_fx_conversion: { ...body.value, idempotency_key: key.value } })
  },
  success: () => CREATED,
  keyMaxLength: PAYOUT_IDEMPOTENCY_KEY_MAX,
}
