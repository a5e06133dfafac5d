/**
 * POST /v1/events/{event_id}/resend: delivers the event again, to one endpoint or to all of them.
 */
import { accepted } from '../../src/base/errors.js'
import { readOptionalBody } from '../decode/body.js'
import { ACCEPTED, type Handler } from '../routing/route.js'
import { checkResendEvent } from '../../src/requests/webhook_endpoints.js'

export const eventsResend: Handler = {
  decode: ({ request, id }) => {
    const body = readOptionalBody(request.body, checkResendEvent)
    return body.ok ? accepted({ resend_event: { event_id: id, ...body.value } }) : body
  },
  success: () => ACCEPTED,
  runsOutsideCycle: true,
}
