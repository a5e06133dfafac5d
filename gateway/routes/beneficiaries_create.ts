/** POST /v1/beneficiaries: creates a bank account to pay out to. */
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { CREATED, type Handler } from '../routing/route.js'
import { checkBeneficiary } from '../../src/requests/payouts.js'

export const beneficiariesCreate: Handler = {
  decode: ({ request }) => {
    const body = readBody(request.body, checkBeneficiary)
    return body.ok ? accepted({ create_beneficiary: { beneficiary: body.value } }) : body
  },
  success: () => CREATED,
}
