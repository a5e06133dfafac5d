/** POST /v1/payouts: creates a payout, or returns the one that the same key created. */
import { PAYOUT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, requiredKey } from '../decode/idempotency_key.js'
import type { Handler, Success } from '../routing/route.js'
import { readPayout } from '../../src/requests/payouts.js'

const NEW: Success = { status: 202, headers: [['Idempotent-Replayed', 'false']] }
const REPLAYED: Success = { status: 200, headers: [['Idempotent-Replayed', 'true']] }

export const payoutsCreate: Handler = {
  decode: ({ request }) => {
    const key = requiredKey(request.header(IDEMPOTENCY_KEY), PAYOUT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    const payout = readBody(request.body, readPayout)
    if (!payout.ok) return payout
    return accepted({ create_payout: { ...payout.value, idempotency_key: key.value } })
  },
  success: (replayed) => (replayed ? REPLAYED : NEW),
  keyMaxLength: PAYOUT_IDEMPOTENCY_KEY_MAX,
}
