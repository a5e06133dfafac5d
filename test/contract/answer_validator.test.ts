/** The validator of answers finds each kind of undocumented answer. */
import t from 'tap'
import { readDocument } from '../support/documented_answers.js'
import { createAnswerValidator } from './answer_validator.js'

const { faultOf, faultOfEvent } = createAnswerValidator(readDocument())
const headers = { 'x-request-id': 'req_1', 'content-type': 'application/json' }
const DEPOSIT = {
  id: 'dep_1',
  currency: 'THB',
  amount: '100',
  created_at: '2026-11-21T04:35:40.123Z',
}
const errorOf = (code: string) => ({ error: { code, message: 'Text.', request_id: 'req_1' } })
const deposits = (status: number, body: unknown, more = {}) =>
  faultOf('POST', '/v1/funding/deposits?a=b', { status, headers: { ...headers, ...more }, body })

t.test('a documented answer has no fault', async (t) => {
  t.equal(deposits(201, DEPOSIT), undefined)
  t.equal(deposits(201, DEPOSIT, { 'idempotency-key': 'k' }), undefined)
  t.equal(deposits(409, errorOf('idempotency_conflict')), undefined)
  t.equal(deposits(401, errorOf('authentication_failed')), undefined)
  const unknown = { status: 404, headers, body: errorOf('not_found') }
  t.equal(faultOf('GET', '/v1/nothing', unknown), undefined)
  t.equal(faultOf('GET', '/v1/funding/deposits', { ...unknown, status: 404 }), undefined)
})

t.test('each kind of undocumented answer has a fault', async (t) => {
  t.match(deposits(200, DEPOSIT), /status 200/)
  t.match(deposits(418, DEPOSIT), /status 418/)
  t.match(deposits(409, errorOf('payout_not_found')), /allowed values/)
  t.match(deposits(201, { ...DEPOSIT, note: '' }), /additional properties/)
  t.match(deposits(201, { ...DEPOSIT, amount: 100 }), /string/)
  t.match(deposits(201, { ...DEPOSIT, created_at: '2026-11-21' }), /pattern|format/)
  const { currency: _currency, ...incomplete } = DEPOSIT
  t.match(deposits(201, incomplete), /required/)
  t.match(deposits(409, { error: { ...errorOf('idempotency_conflict').error, more: 1 } }), /addit/)
  t.match(deposits(201, DEPOSIT, { 'x-new': '1' }), /x-new/)
  t.match(
    faultOf('POST', '/v1/funding/deposits', { status: 201, headers: {}, body: DEPOSIT }),
    /X-Request-Id is missing/,
  )
  t.match(faultOf('GET', '/v1/nothing', { status: 200, headers, body: {} }), /of no operation/)
  t.match(
    faultOf('GET', '/v1/nothing', { status: 404, headers, body: errorOf('payout_not_found') }),
    /of no operation/,
  )
})

t.test('the body of a webhook', async (t) => {
  const balance = { currency: 'THB', available: '1', reserved: '0', threshold: '2' }
  const event = {
    ...{ id: 'evt_1', type: 'balance.low', webhook_event_id: 'evt_1' },
    ...{ webhook_event_type: 'balance.low', api_version: '2026-11-01' },
    created_at: '2026-11-21T04:35:40.123Z',
    data: { balance },
  }
  t.equal(faultOfEvent(event), undefined)
  t.match(faultOfEvent({ ...event, type: 'balance.high' }), /allowed values/)
  t.match(faultOfEvent({ ...event, data: { balance: { ...balance, more: 1 } } }), /additional/)
  t.match(faultOfEvent({ ...event, data: {} }), /required property 'balance'/)
})
