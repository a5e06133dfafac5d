/** POST /v1/beneficiaries/{beneficiary_id}/disable: blocks new payouts to it, permanently. */
import { withoutBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'

export const beneficiariesDisable: Handler = {
  decode: ({ request, id }) =>
    withoutBody(request.body, { disable_beneficiary: { beneficiary_id: id } }),
  success: () => OK,
}
