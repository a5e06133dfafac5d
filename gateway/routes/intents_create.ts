/** POST /v1/payment_intents: creates an intent and its session token. */
import type { CreateIntent } from '../../protos/types/causeway/v1/CreateIntent.js'
import { INTENT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, optionalKey } from '../decode/idempotency_key.js'
import { CREATED, type Handler } from '../routing/route.js'
import { checkCreateIntent } from '../../src/requests/intents.js'

export const intentsCreate: Handler = {
  decode: ({ request }) => {
    const key = optionalKey(request.header(IDEMPOTENCY_KEY), INTENT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    const body = readBody(request.body, checkCreateIntent)
    if (!body.ok) return body
    const intent: CreateIntent = {
      partner_user_id: body.value.partner_user_id,
      amount_usd_cents: body.value.amount_usd_cents,
      corridor: body.value.corridor,
      kyc_attestation: body.value.kyc_attestation,
      sanctions_attestation: body.value.sanctions_attestation,
    }
    if (key.value !== undefined) intent.idempotency_key = key.value
    return accepted({ create_intent: intent })
  },
  success: () => CREATED,
  keyMaxLength: INTENT_IDEMPOTENCY_KEY_MAX,
}
