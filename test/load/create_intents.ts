/**
 * Scenario: signed creates of payment intents, each a journey of its own.
 *
 * Owns: the request and its check. Every one has a nonce, a timestamp and a signature of its own
 * and, unless told otherwise, its own Idempotency-Key, as partners are asked to send it.
 */
import type { Clock } from '../../src/base/clock.js'
import { toRfc3339 } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import { createForm, type Form, type Piece } from './form.js'
import { COMPLETED, unexpected, type Scenario } from './scenario.js'
import { createSigner } from './signature.js'

export interface CreateIntentsOptions {
  readonly host: string
  readonly keyId: string
  readonly secret: string
  readonly withIdempotencyKey: boolean
  readonly lanes: number
  readonly clock: Clock
  readonly random: Random
}

export const PATH = '/v1/payment_intents'
export const AMOUNT_USD_CENTS = 2_500
const CREATED = 201
/** So many people pay; each comes back from time to time. */
const USERS = 50_000
const SAMPLE_EVERY = 1_000
const BEFORE_USER = '{"partner_user_id":"load-'
const AFTER_USER =
  `","amount_usd_cents":${AMOUNT_USD_CENTS},"corridor":"th_promptpay",` +
  '"kyc_attestation":{"verified":true,"method":"bank_id","verified_at":"2026-01-01T00:00:00Z"},' +
  '"sanctions_attestation":{"clean":true,"screened_at":"2026-01-01T00:00:00Z"}}'

const TIMESTAMP = { width: 24 }
const NONCE = { width: 64 }
const SIGNATURE = { width: 44 }
const KEY = { width: 32 }
const USER = { width: 8 }

export function createIntents(options: CreateIntentsOptions): Scenario {
  const form = createForm(pieces(options))
  const requests = Array.from({ length: options.lanes }, () => form.blank())
  const supply = createSupply(options, form)
  const samples: string[] = []
  let answered = 0

  return {
    prepare: (journeys) => supply.sign(journeys),
    begin: (lane) => {
      const request = requests[lane]
      return request !== undefined && supply.next(request) ? request : undefined
    },
    proceed: (_lane, answer) => {
      if (answer.status !== CREATED) return unexpected(answer)
      if (answered % SAMPLE_EVERY === 0) samples.push(intentId(answer.body))
      answered += 1
      return COMPLETED
    },
    samples: () => samples,
  }
}

function pieces({ host, keyId, withIdempotencyKey }: CreateIntentsOptions): Piece[] {
  const bodyBytes = BEFORE_USER.length + USER.width + AFTER_USER.length
  const head = `POST ${PATH} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`
  const length = `\r\nContent-Length: ${bodyBytes}\r\n\r\n`
  return [
    `${head}X-Service-Key-Id: ${keyId}\r\nX-Service-Timestamp: `,
    TIMESTAMP,
    '\r\nX-Service-Nonce: ',
    NONCE,
    '\r\nX-Service-Signature: ',
    SIGNATURE,
    ...(withIdempotencyKey ? ['\r\nIdempotency-Key: ', KEY] : []),
    length + BEFORE_USER,
    USER,
    AFTER_USER,
  ]
}

interface Supply {
  sign(journeys: number): void
  /** Fills in the next one; false when there is none left. */
  next(request: Buffer): boolean
}

function createSupply(options: CreateIntentsOptions, form: Form): Supply {
  const sign = createSigner(options.secret)
  let records = Buffer.alloc(0)
  let size = 0
  let used = 0
  let user = 0

  const write = (index: number): void => {
    user = (user + 1) % USERS
    const userId = String(user).padStart(USER.width, '0')
    const timestamp = toRfc3339(options.clock.now())
    const nonce = options.random.bytes(NONCE.width / 2).toString('hex')
    const body = BEFORE_USER + userId + AFTER_USER
    const signature = sign({ method: 'POST', path: PATH, timestamp, nonce, body })
    const key = options.withIdempotencyKey
      ? [options.random.bytes(KEY.width / 2).toString('hex')]
      : []
    form.write(records, index, [timestamp, nonce, signature, ...key, userId])
  }
  return {
    sign: (journeys) => {
      size = journeys
      records = Buffer.allocUnsafe(size * form.recordBytes)
      for (let index = 0; index < size; index += 1) write(index)
    },
    next: (request) => {
      if (used === size) return false
      form.fill(request, records, used)
      used += 1
      return true
    },
  }
}

function intentId(body: Buffer): string {
  const { intent_id } = JSON.parse(body.toString()) as { intent_id: string }
  return intent_id
}
