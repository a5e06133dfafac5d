/**
 * POST /v1/funding/deposits: credits test funds at once. The processor rejects it in production.
 */
import { PAYOUT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, optionalKey } from '../decode/idempotency_key.js'
import { CREATED, type Handler } from '../routing/route.js'
import { checkCreateDeposit } from '../../src/requests/funding.js'

export const fundingDepositsCreate: Handler = {
  decode: ({ request }) => {
    const key = optionalKey(request.header(IDEMPOTENCY_KEY), PAYOUT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    const body = readBody(request.body, checkCreateDeposit)
    if (!body.ok) return body
    return accepted({
      create_deposit: {
        ...body.value,
        ...(key.value === undefined ? {} : { idempotency_key: key.value }),
      },
    })
  },
  success: () => CREATED,
  keyMaxLength: PAYOUT_IDEMPOTENCY_KEY_MAX,
}
