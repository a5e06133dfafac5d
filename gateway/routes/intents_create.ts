/** POST /v1/payment_intents: a new intent with its session token. */
import { INTENT_IDEMPOTENCY_KEY_MAX } from '../../src/base/bounds.js'
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, optionalKey } from '../decode/idempotency_key.js'
import { CREATED, type Handler } from '../route.js'
import { checkCreateIntent } from '../schemas/intents.js'

export const intentsCreate: Handler = {
  decode: ({ exchange }) => {
    const key = optionalKey(exchange.header(IDEMPOTENCY_KEY), INTENT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    const body = readBody(exchange.body, checkCreateIntent)
    if (!body.ok) return body
    return accepted({
      create_intent:
        key.value === undefined ? body.value : { ...body.value, idempotency_key: key.value },
    })
  },
  success: () => CREATED,
}
