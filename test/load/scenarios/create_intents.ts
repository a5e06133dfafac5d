/**
 * Scenario: signed creates of payment intents, each a journey of its own.
 *
 * Owns: the request and its check. Its supply is also how a QR payment begins (pay_by_qr).
 */
import { COMPLETED, unexpected, type Scenario } from './scenario.js'
import {
  createPresignedRequests,
  type Signing,
  type PresignedRequests,
} from '../client/presigned_requests.js'

export interface CreateIntentsOptions extends Signing {
  readonly withIdempotencyKey: boolean
  readonly connections: number
}

export const PATH = '/v1/payment_intents'
export const AMOUNT_USD_CENTS = 2_500
export const CREATED = 201
/** So many people pay; each comes back from time to time. */
export const USERS = 50_000
const SAMPLE_EVERY = 1_000
const AFTER_USER =
  `","amount_usd_cents":${AMOUNT_USD_CENTS},"corridor":"th_promptpay",` +
  '"kyc_attestation":{"verified":true,"method":"bank_id","verified_at":"2026-01-01T00:00:00Z"},' +
  '"sanctions_attestation":{"clean":true,"screened_at":"2026-01-01T00:00:00Z"}}'
const USER = { width: 8 }

export function createIntents(options: CreateIntentsOptions): Scenario {
  const presigned = intentRequests(options)
  const requests = Array.from({ length: options.connections }, () => presigned.blank())
  const samples: string[] = []
  let intents = 0

  return {
    prepare: presigned.signAhead,
    last: presigned.last,
    begin: (connection) => {
      const request = requests[connection]
      return request !== undefined && presigned.next(request) ? request : undefined
    },
    proceed: (_connection, answer) => {
      if (answer.status !== CREATED) return unexpected(answer)
      if (intents % SAMPLE_EVERY === 0) samples.push(createdIntent(answer.body).intent_id)
      intents += 1
      return COMPLETED
    },
    hear: () => undefined,
    abandon: () => undefined,
    acknowledged: () => ({ intents, payouts: 0, samples }),
  }
}

/** Creates for one user after the other, whom no other supply has. */
export function intentRequests(options: CreateIntentsOptions): PresignedRequests {
  let user = 0
  const group = options.random.bytes(4).toString('hex')
  return createPresignedRequests(
    {
      method: 'POST',
      target: [PATH],
      body: [`{"partner_user_id":"load-${group}-`, USER, AFTER_USER],
      withKey: options.withIdempotencyKey,
      fields: () => {
        user = (user + 1) % USERS
        return [String(user).padStart(USER.width, '0')]
      },
    },
    options,
  )
}

export interface CreatedIntent {
  readonly intent_id: string
  readonly session_token: string
}

export const createdIntent = (body: Buffer): CreatedIntent =>
  JSON.parse(body.toString()) as CreatedIntent
