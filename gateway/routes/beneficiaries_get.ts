/**
 * GET /v1/beneficiaries/{beneficiary_id}: one beneficiary; only the last 4 characters of its
 * account.
 */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const beneficiariesGet: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { get_beneficiary: { beneficiary_id: id } }),
  success: () => OK,
}
