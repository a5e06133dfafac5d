/** POST /v1/payment_intents/{intent_id}/scan: reads the merchant's QR code and binds a quote. */
import { accepted } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { OK, type Handler } from '../routing/route.js'
import { checkScan } from '../../src/requests/intents.js'

export const intentsScan: Handler = {
  decode: ({ request, id, sessionJti }) => {
    const body = readBody(request.body, checkScan)
    if (!body.ok) return body
    const { qr_payload, local_amount_minor_units: amount, duplicate_confirmed } = body.value
    return accepted({
      scan_intent: {
        intent_id: id,
        session_jti: sessionJti,
        qr_payload,
        duplicate_confirmed: duplicate_confirmed ?? false,
        ...(amount === undefined ? {} : { local_amount_minor_units: String(amount) }),
      },
    })
  },
  success: () => OK,
}
