/** POST /v1/fx/quotes: quotes a conversion between two balances, valid for a minute. */
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { CREATED, type Handler } from '../routing/route.js'
import { checkCreateFxQuote } from '../../src/requests/funding.js'

export const fxQuotesCreate: Handler = {
  decode: ({ request }) => {
    const body = readBody(request.body, checkCreateFxQuote)
    return body.ok ? accepted({ create_fx_quote: body.value }) : body
  },
  success: () => CREATED,
}
