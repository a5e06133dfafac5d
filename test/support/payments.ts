/**
 * Payments as a partner's backend and app make them, against a running stack.
 *
 * Each step is retried with the same key while the response is missing or retryable.
 */
import { withKey, type HttpAnswer, type Partner } from './partner.js'
import { generateVietQr } from './qr_generators.js'
import { anIntent, payoutBody, promptPayQr } from './requests.js'
import { UndocumentedAnswer } from './documented_answers.js'
import { eventually } from './eventually.js'

/** A dynamic VietQR code with its amount, made by an independent generator. */
export const vietQr = (amount: string): string =>
  generateVietQr({
    bankBin: '970416',
    bankNumber: '257678859',
    amount,
    purpose: 'Cam on',
  })

const TRY_WITHIN_MS = 30_000

/** Repeats a call until it gets a final response. */
export async function retryUntilFinal(call: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  return eventually(
    'an answer',
    async () => {
      const answer = await call().catch((error: unknown) => {
        if (error instanceof UndocumentedAnswer) throw error
        return undefined
      })
      return answer !== undefined && answer.status < 500 && answer
    },
    TRY_WITHIN_MS,
  )
}

export interface PaidIntent {
  readonly id: string
  readonly token: string
}

/** Creates, scans and confirms; throws when a step is rejected. */
export async function payByQr(
  partner: Partner,
  key: string,
  over: Record<string, unknown> = {},
): Promise<PaidIntent> {
  const request = { ...anIntent(), partner_user_id: `user ${key}`, ...over }
  const created = await retryUntilFinal(() =>
    partner.request('POST', '/v1/payment_intents', request, withKey(`create ${key}`)),
  )
  expectStatus(created, 201)
  const { intent_id: id, session_token: token } = created.body as Record<string, string> & {
    intent_id: string
    session_token: string
  }
  const app = partner.session(token)
  const isThai = request.corridor === 'th_promptpay'
  const scan = isThai
    ? { qr_payload: promptPayQr(), local_amount_minor_units: '36000' }
    : { qr_payload: vietQr('100000') }
  const scanned = await retryUntilFinal(() =>
    app.request('POST', `/v1/payment_intents/${id}/scan`, scan),
  )
  expectStatus(scanned, 200)
  const confirmed = await retryUntilFinal(() =>
    app.request('POST', `/v1/payment_intents/${id}/confirm`, undefined, withKey(`confirm ${key}`)),
  )
  expectStatus(confirmed, 200)
  return { id, token }
}

/** Creates a payout of VND; throws when it is refused. */
export async function payOut(
  partner: Partner,
  key: string,
  over: Record<string, unknown> = {},
): Promise<string> {
  const created = await retryUntilFinal(() => requestPayout(partner, key, over))
  if (created.status !== 202) expectStatus(created, 200)
  return idIn(created)
}

/** One request for a payout of VND, whatever its answer. */
export const requestPayout = (
  partner: Partner,
  key: string,
  over: object = {},
): Promise<HttpAnswer> => partner.request('POST', '/v1/payouts', payoutBody(over), withKey(key))

export const idIn = ({ body }: HttpAnswer): string => (body as { readonly id: string }).id

/** Polls until the entity has this status. */
export async function untilStatus(
  partner: Partner,
  path: string,
  status: string,
): Promise<unknown> {
  return eventually(
    `${path} is ${status}`,
    async () => {
      const { body } = await retryUntilFinal(() => partner.request('GET', path))
      return (body as { status: string }).status === status && (body as object)
    },
    TRY_WITHIN_MS,
  )
}

function expectStatus(answer: HttpAnswer, status: number): void {
  if (answer.status !== status) throw new Error(`${answer.status} instead: ${answer.text}`)
}
