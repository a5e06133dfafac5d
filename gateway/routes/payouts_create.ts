/** POST /v1/payouts: creates a payout, or returns the one that the same key created. */
import { PAYOUT_IDEMPOTENCY_KEY_MAX, REFERENCE_MAX } from '../../src/base/constants.js'
import { accepted, invalid, placedAt, type Outcome } from '../../src/base/errors.js'
import type { CreatePayout } from '../../protos/types/causeway/v1/CreatePayout.js'
import { readBody } from '../decode/body.js'
import { IDEMPOTENCY_KEY, requiredKey } from '../decode/idempotency_key.js'
import type { Handler, Success } from '../routing/route.js'
import {
  checkBeneficiary,
  checkCreatePayout,
  type BeneficiaryBody,
  type CreatePayoutBody,
} from '../../src/requests/payouts.js'

const NEW: Success = { status: 202, headers: [['Idempotent-Replayed', 'false']] }
const REPLAYED: Success = { status: 200, headers: [['Idempotent-Replayed', 'true']] }

export const payoutsCreate: Handler = {
  decode: ({ request }) => {
    const key = requiredKey(request.header(IDEMPOTENCY_KEY), PAYOUT_IDEMPOTENCY_KEY_MAX)
    if (!key.ok) return key
    const body = readBody(request.body, checkCreatePayout)
    if (!body.ok) return body
    const payout = payoutOf(body.value, key.value)
    return payout.ok ? accepted({ create_payout: payout.value }) : payout
  },
  success: (replayed) => (replayed ? REPLAYED : NEW),
  keyMaxLength: PAYOUT_IDEMPOTENCY_KEY_MAX,
}

/** Checks the body's shape before the beneficiary in it. */
function payoutOf(body: CreatePayoutBody, key: string): Outcome<CreatePayout> {
  const { beneficiary: inline, reference: untrimmed, ...plain } = body
  const reference = untrimmed.trim()
  const length = [...reference].length
  if (length < 1 || length > REFERENCE_MAX) {
    return invalid('/reference', `must have 1 to ${REFERENCE_MAX} characters after trimming`)
  }
  const payout: CreatePayout = {
    ...plain,
    metadata: { ...plain.metadata },
    reference,
    idempotency_key: key,
  }
  if (inline === undefined) return accepted(payout)
  const beneficiary: Outcome<BeneficiaryBody> = placedAt('/beneficiary', checkBeneficiary(inline))
  return beneficiary.ok ? accepted({ ...payout, beneficiary: beneficiary.value }) : beneficiary
}
