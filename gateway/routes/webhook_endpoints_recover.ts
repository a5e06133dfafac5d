/**
 * POST /v1/webhook_endpoints/{endpoint_id}/recover: retries the failed deliveries of events since a
 * time.
 */
import { accepted, invalid } from '../../src/base/errors.js'
import { readBody } from '../decode/body.js'
import { ACCEPTED, type Handler } from '../routing/route.js'
import { timestampOf, roundDown } from '../../src/requests/timestamp.js'
import { checkRecover } from '../../src/requests/webhook_endpoints.js'

export const webhookEndpointsRecover: Handler = {
  decode: ({ request, id }) => {
    const body = readBody(request.body, checkRecover)
    if (!body.ok) return body
    const since = timestampOf(body.value.since)
    if (since === undefined) return invalid('/since', 'must be a valid time')
    const from = Math.max(roundDown(since), 0)
    return accepted({ recover_webhook_endpoint: { endpoint_id: id, since: from } })
  },
  success: () => ACCEPTED,
  runsOutsideCycle: true,
}
