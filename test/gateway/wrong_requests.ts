/** Requests with one fault each, and the field and rule that an answer or a log line names. */
import {
  bearer,
  beneficiaryBody,
  byToken,
  createBody,
  get,
  INTENT,
  payoutBody,
  post,
  type HttpCall,
} from './signing_partner.js'

export interface WrongRequest {
  readonly call: HttpCall
  readonly pointer: string
  readonly rule: string
  /** The message in the sandbox. */
  readonly message: string
  readonly code?: string
}

/** A QR payload, an account number, a token and a secret: none of them may appear anywhere. */
export const PLANTED = {
  qr: '00020101021229370016A000000677010111PLANTED5802TH6304ABCD',
  account: '9990004111222333',
  token: 'eyJhbGciOiJIUzI1NiJ9.cGxhbnRlZA.c2lnbmF0dXJl',
  secret: 'whsec_planted7f3a9c',
}

const create = (change: object, key?: string): HttpCall =>
  post('/v1/payment_intents', { ...createBody, ...change }, key)
const kyc = (change: object): HttpCall =>
  create({ kyc_attestation: { ...createBody.kyc_attestation, ...change } })
const raw = (body: string): HttpCall => post('/v1/payment_intents', body)
const payout = (change: object): HttpCall => post('/v1/payouts', { ...payoutBody, ...change }, 'k')
const inline = (change: object): HttpCall =>
  payout({ beneficiary_id: undefined, beneficiary: { ...beneficiaryBody, ...change } })
const list = (query: string): HttpCall => get(`/v1/payouts?${query}`)

const wrong = (call: HttpCall, pointer: string, rule: string, code?: string): WrongRequest => ({
  call,
  pointer,
  rule,
  message: `${nameOf(pointer)}: ${rule}`,
  ...(code === undefined ? {} : { code }),
})

const nameOf = (pointer: string): string => {
  const [part = '', ...names] = pointer.split('/')
  return [part, names.join('.')].filter((each) => each !== '').join(' ') || 'body'
}

const INTEGER = 'must be an integer'
const TIME = 'must be an RFC 3339 timestamp with an offset'

export const WRONG_REQUESTS: readonly WrongRequest[] = [
  wrong(create({ amount_usd_cents: PLANTED.account }), '/amount_usd_cents', INTEGER),
  wrong(create({ amount_usd_cents: 0 }), '/amount_usd_cents', 'must be at least 1'),
  wrong(
    raw('{"amount_usd_cents": 10.5}'),
    '/amount_usd_cents',
    'must be an integer, without fraction and exponent',
  ),
  wrong(create({ partner_user_id: undefined }), '/partner_user_id', 'is required'),
  wrong(create({ partner_user_id: '' }), '/partner_user_id', 'must not be empty'),
  wrong(
    create({ corridor: PLANTED.secret }),
    '/corridor',
    'must be one of: th_promptpay, vn_vietqr',
  ),
  wrong(create({ amount_cents: 5 }), '/amount_cents', 'is not a known name'),
  wrong(create({ [PLANTED.token]: 1 }), '', 'has a member that is not a known name'),
  wrong(kyc({ verified: PLANTED.secret }), '/kyc_attestation/verified', 'must be true or false'),
  wrong(kyc({ verified_at: PLANTED.token }), '/kyc_attestation/verified_at', TIME),
  wrong(raw(`{"partner_user_id": ${PLANTED.secret}}`), '', 'must be JSON'),
  wrong(raw('{"corridor":"th_promptpay","corridor":"x"}'), '/corridor', 'must not be repeated'),
  wrong(
    create({}, 'x'.repeat(257)),
    'header/Idempotency-Key',
    'must be 1 to 256 printable ASCII characters, without blanks at its ends',
  ),
  wrong(post('/v1/payouts', payoutBody), 'header/Idempotency-Key', 'is required'),
  wrong(payout({ amount: 125000 }), '/amount', 'must be a string'),
  wrong(
    payout({ amount: '12.50' }),
    '/amount',
    'must be a positive 64-bit integer in decimal digits, as a string',
  ),
  wrong(payout({ currency: 'thb' }), '/currency', 'must be three capital letters'),
  wrong(payout({ reference: '  ' }), '/reference', 'must have 1 to 255 characters after trimming'),
  wrong(
    payout({ beneficiary_id: undefined }),
    '',
    'must have exactly one of: beneficiary_id, beneficiary',
  ),
  wrong(payout({ metadata: { order: 5 } }), '/metadata/order', 'must be a string'),
  wrong(
    payout({ metadata: { [PLANTED.account]: 5 } }),
    '/metadata',
    'has a member that must be a string',
  ),
  wrong(
    inline({ account_number: `${PLANTED.account}-1` }),
    '/beneficiary/account_number',
    'must be 5 to 34 letters and digits',
    'invalid_beneficiary',
  ),
  wrong(list('limit=500'), 'query/limit', 'must be a whole number from 1 to 100'),
  wrong(list('stauts=failed'), 'query/stauts', 'is not a known name'),
  wrong(list('status=failed&status=failed'), 'query/status', 'must not be repeated'),
  wrong(list('created_after=yesterday'), 'query/created_after', TIME),
  wrong(
    byToken(
      post(`/v1/payment_intents/${INTENT}/scan`, { qr_payload: [PLANTED.qr] }),
      bearer(INTENT),
    ),
    '/qr_payload',
    'must be a string',
  ),
  wrong(
    post('/v1/webhook_endpoints', { url: `https://a:${PLANTED.secret}@b.example/` }),
    '/url',
    'must be an http or https URL without credentials and fragment',
  ),
]
