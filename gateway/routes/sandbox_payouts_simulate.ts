/**
 * POST /v1/sandbox/payouts/{payout_id}/simulate: makes the sandbox rail report an outcome later.
 * The processor rejects it in production.
 */
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { ACCEPTED, type Handler } from '../routing/route.js'
import { checkSimulatePayout } from '../../src/requests/sandbox.js'

export const sandboxPayoutsSimulate: Handler = {
  decode: ({ request, id }) => {
    const body = readBody(request.body, checkSimulatePayout)
    return body.ok ? accepted({ simulate_payout: { payout_id: id, ...body.value } }) : body
  },
  success: () => ACCEPTED,
}
