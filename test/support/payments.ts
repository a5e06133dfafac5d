/**
 * Payments as a partner's backend and app make them, against a running stack.
 *
 * Each step is retried with the same key while the response is missing or retryable.
 */
import { withKey, type HttpAnswer, type Partner } from './partner.js'
import { pathOf } from './lifecycle.js'
import { anIntent, payoutBody, scanOf, type IntentMembers } from './requests.js'
import { UndocumentedAnswer } from './documented_answers.js'
import { eventually } from './eventually.js'

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
  over: IntentMembers = {},
): Promise<PaidIntent> {
  const request = { partner_user_id: `user ${key}`, ...over }
  const made = intentIn(
    await retryUntilFinal(() => requestIntent(partner, `create ${key}`, request)),
  )
  const app = partner.session(made.token)
  const call = async (action: string, body?: object, options = {}): Promise<HttpAnswer> => {
    const path = `${pathOf(made.id)}/${action}`
    return expected(await retryUntilFinal(() => app.request('POST', path, body, options)), 200)
  }
  await call('scan', scanOf(over.corridor))
  await call('confirm', undefined, withKey(`confirm ${key}`))
  return made
}

/** One request for an intent, whatever its answer. */
export const requestIntent = (
  partner: Partner,
  key: string,
  over: IntentMembers = {},
): Promise<HttpAnswer> =>
  partner.request('POST', '/v1/payment_intents', anIntent(over), withKey(key))

/** The intent that a request has created. @throws when it was rejected */
export function intentIn(answer: HttpAnswer): PaidIntent {
  const { intent_id: id, session_token: token } = expected(answer, 201).body as {
    readonly intent_id: string
    readonly session_token: string
  }
  return { id, token }
}

/** Creates a payout of VND; throws when it is refused. */
export async function payOut(
  partner: Partner,
  key: string,
  over: Record<string, unknown> = {},
): Promise<string> {
  const created = await retryUntilFinal(() => requestPayout(partner, key, over))
  return idIn(created.status === 202 ? created : expected(created, 200))
}

/** One request for a payout of VND, whatever its answer. */
export const requestPayout = (
  partner: Partner,
  key: string,
  over: object = {},
): Promise<HttpAnswer> => partner.request('POST', '/v1/payouts', payoutBody(over), withKey(key))

/** One request for test funds, whatever its answer. */
export const requestDeposit = (
  partner: Partner,
  key: string,
  amount: string,
  currency = 'VND',
): Promise<HttpAnswer> =>
  partner.request('POST', '/v1/funding/deposits', { currency, amount }, withKey(key))

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

/** @throws when the answer has another status */
export function expected(answer: HttpAnswer, status: number): HttpAnswer {
  if (answer.status !== status) throw new Error(`${answer.status} instead: ${answer.text}`)
  return answer
}
