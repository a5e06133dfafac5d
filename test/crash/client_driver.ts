/**
 * The clients of one scenario (a partner's backend, a user's app and an operator), which repeat
 * every call until it gets a final response.
 *
 * Does not own: the order of the calls (scenarios), their expected outcomes (outcomes).
 *
 * - A call without an idempotency key is repeated only until its effect is visible.
 */
import type { OperatorClient } from '../../src/operations/calls/operator_client.js'
import { eventually } from '../support/eventually.js'
import { withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import { retryUntilFinal, vietQr } from '../support/payments.js'
import { anIntent, aPayout, promptPayQr } from '../support/requests.js'
import type { Bank } from './bank.js'

export interface ClientDriver {
  /** Unique per scenario and run: part of keys and users. */
  readonly name: string
  /** Intents and payouts in creation order; calls refer to the last one. */
  readonly entities: string[]
  readonly bank: Bank
  /** Responses to compare with later ones. */
  readonly notes: Map<string, string>
  /** The same key creates the same intent. */
  createIntent(over?: Record<string, unknown>, key?: string): Promise<HttpAnswer>
  scan(over?: Record<string, unknown>): Promise<HttpAnswer>
  confirm(): Promise<HttpAnswer>
  renewSession(): Promise<void>
  cancel(): Promise<void>
  refund(): Promise<HttpAnswer>
  payOut(account: string, over?: Record<string, unknown>): Promise<HttpAnswer>
  decide(what: 'ApprovePayout' | 'RejectPayout', status: string): Promise<void>
  resolve(outcome: 'completed' | 'failed'): Promise<void>
  /** Waits until the view matches. */
  until(what: string, matches: (projection: Projection) => boolean): Promise<void>
}

export type Projection = Readonly<Record<string, unknown>>

export interface ClientDriverOptions {
  readonly name: string
  /** A suffix that selects the sandbox rail's behavior, e.g. `+fail`. */
  readonly ending: string
  readonly partner: Partner
  readonly operator: OperatorClient
  readonly bank: Bank
}

const ACTOR = { reason: 'a test' }
/** The third status inquiry is due after a minute; kills can lose the first two. */
const VISIBLE_WITHIN_MS = 75_000
/** Dozens of clients read, beside processes that start again. */
const POLL_EVERY_MS = 250

export function createClientDriver({
  name,
  ending,
  partner,
  operator,
  bank,
}: ClientDriverOptions): ClientDriver {
  const entities: string[] = []
  const request = { ...anIntent(), partner_user_id: `user ${name}${ending}` }
  let token = ''
  let isThai = true

  const keyed = (key: string) => withKey(`${key} ${name}`)
  const path = (): string => {
    const id = entities.at(-1) ?? ''
    return id.startsWith('pi_') ? `/v1/payment_intents/${id}` : `/v1/payouts/${id}`
  }
  const view = async (): Promise<Projection> =>
    (await retryUntilFinal(() => partner.request('GET', path()))).body as Projection
  const repeat = async (what: string, attempt: () => Promise<boolean>): Promise<void> => {
    const attempted = (): Promise<boolean> => attempt().catch(() => false)
    await eventually(`${name}: ${what}`, attempted, VISIBLE_WITHIN_MS, POLL_EVERY_MS)
  }
  const until: ClientDriver['until'] = async (what, matches) => {
    let seen: Projection = {}
    try {
      await repeat(what, async () => matches((seen = await view())))
    } catch (cause) {
      throw new Error(`${name}: ${what} is not seen, but ${JSON.stringify(seen)}`, { cause })
    }
  }
  const app = (verb: string, body: unknown, extra = {}): Promise<HttpAnswer> =>
    retryUntilFinal(() => partner.session(token).request('POST', `${path()}/${verb}`, body, extra))

  return {
    name,
    entities,
    bank,
    notes: new Map(),
    createIntent: async (over = {}, key = `create ${entities.length}`) => {
      const body = { ...request, ...over }
      const answer = await retryUntilFinal(() =>
        partner.request('POST', '/v1/payment_intents', body, keyed(key)),
      )
      const made = expected(answer, 201).body as { intent_id: string; session_token: string }
      isThai = body.corridor === 'th_promptpay'
      if (!entities.includes(made.intent_id)) entities.push(made.intent_id)
      token = made.session_token
      return answer
    },
    scan: (over = {}) => {
      const thai = { qr_payload: promptPayQr(), local_amount_minor_units: '36000' }
      return app('scan', { ...(isThai ? thai : { qr_payload: vietQr('100000') }), ...over })
    },
    confirm: () => app('confirm', undefined, keyed(`confirm ${entities.length}`)),
    renewSession: async () => {
      const { kyc_attestation, sanctions_attestation, partner_user_id } = request
      const body = { kyc_attestation, sanctions_attestation, partner_user_id }
      const answer = await retryUntilFinal(() => partner.request('POST', `${path()}/session`, body))
      token = (expected(answer, 200).body as { session_token: string }).session_token
    },
    cancel: () =>
      repeat('cancelled', async () => {
        const { status } = await partner.request('POST', `${path()}/cancel`)
        return status === 200 || (await view())['status'] === 'cancelled'
      }),
    refund: () =>
      retryUntilFinal(() =>
        partner.request('POST', `${path()}/refund`, undefined, keyed('refund')),
      ),
    payOut: async (account, over = {}) => {
      const { currency, reference, beneficiary } = aPayout()
      const recipient = { ...beneficiary, account_number: account }
      const body = { amount: '125000', currency, reference, beneficiary: recipient, ...over }
      const answer = await retryUntilFinal(() =>
        partner.request('POST', '/v1/payouts', body, keyed('payout')),
      )
      const { id } = answer.body as { id?: string }
      if (id !== undefined && !entities.includes(id)) entities.push(id)
      return answer
    },
    decide: (what, status) =>
      repeat(status, async () => {
        const payout_id = entities.at(-1) ?? ''
        await operator.call(what, { actor: ACTOR, payout_id }).catch(() => undefined)
        return (await view())['status'] === status
      }),
    resolve: (outcome) =>
      repeat(outcome, async () => {
        const payout_id = entities.at(-1) ?? ''
        const request = { actor: ACTOR, payout_id, outcome, evidence: 'statement 1' }
        await operator.call('ResolvePayout', request).catch(() => undefined)
        return (await view())['status'] === outcome
      }),
    until,
  }
}

export function expected(answer: HttpAnswer, status: number): HttpAnswer {
  if (answer.status !== status) throw new Error(`${answer.status} instead: ${answer.text}`)
  return answer
}
