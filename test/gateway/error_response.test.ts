/** Error responses: envelope and status of each code. */
import t from 'tap'
import { CONFLICT_ON_CONFIRM, ERRORS, type ErrorCode } from '../../src/base/errors.js'
import type { RequestId } from '../../src/base/ids.js'
import { registeredCode, errorBody, errorStatus } from '../../gateway/http/error_response.js'

const CODES = Object.keys(ERRORS) as ErrorCode[]

t.test('every code has an envelope of exactly three members', async (t) => {
  for (const code of CODES) {
    const envelope: unknown = JSON.parse(errorBody(code, 'req_1' as RequestId))
    t.same(envelope, { error: { code, message: ERRORS[code].message, request_id: 'req_1' } }, code)
  }
})

t.test('every code has an error status; confirm changes only the conflicts', async (t) => {
  for (const code of CODES) {
    const status = errorStatus(code, false)
    t.ok(status >= 400 && status <= 504, code)
    t.equal(errorStatus(code, true), CONFLICT_ON_CONFIRM.has(code) ? 409 : status, code)
  }
})

t.test('an unregistered code becomes internal_error', async (t) => {
  t.equal(registeredCode('payout_not_found'), 'payout_not_found')
  t.equal(registeredCode('constructor'), 'internal_error')
  t.equal(registeredCode('x'), 'internal_error')
  t.equal(registeredCode('not_here'), 'configuration_error', 'not_here is internal to the cluster')
})
