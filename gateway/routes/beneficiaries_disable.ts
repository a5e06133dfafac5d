/** POST /v1/beneficiaries/{beneficiary_id}/disable: no new payout goes to it, for good. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const beneficiariesDisable: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { disable_beneficiary: { beneficiary_id: id } }),
  success: () => OK,
}
