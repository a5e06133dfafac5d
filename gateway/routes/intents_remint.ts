/** POST /v1/payment_intents/{intent_id}/session: a further session token for the same intent. */
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { OK, type Handler } from '../route.js'
import { checkRemintSession } from '../schemas/intents.js'

export const intentsRemint: Handler = {
  decode: ({ exchange, id }) => {
    const body = readBody(exchange.body, checkRemintSession)
    return body.ok ? accepted({ remint_session: { intent_id: id, ...body.value } }) : body
  },
  success: () => OK,
}
