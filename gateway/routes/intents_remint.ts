/** POST /v1/payment_intents/{intent_id}/session: another session token for the same intent. */
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { checkRemintSession } from '../../src/requests/intents.js'

export const intentsRemint: Handler = {
  decode: ({ request, id }) => {
    const body = readBody(request.body, checkRemintSession)
    return body.ok ? accepted({ remint_session: { intent_id: id, ...body.value } }) : body
  },
  success: () => OK,
}
