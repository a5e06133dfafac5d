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
import { pathOf } from '../support/lifecycle.js'
import { withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import {
  expected,
  idIn,
  intentIn,
  requestIntent,
  requestPayout,
  retryUntilFinal,
} from '../support/payments.js'
import { anIntent, payeeOf, scanOf, sessionOf, type IntentMembers } from '../support/requests.js'
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
  createIntent(over?: IntentMembers, key?: string): Promise<HttpAnswer>
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
  const request = anIntent({ partner_user_id: `user ${name}${ending}` })
  let token = ''
  let corridor = request.corridor

  const path = (): string => pathOf(entities.at(-1) ?? '')
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
      const answer = await retryUntilFinal(() => requestIntent(partner, `${key} ${name}`, body))
      const made = intentIn(answer)
      corridor = body.corridor
      if (!entities.includes(made.id)) entities.push(made.id)
      token = made.token
      return answer
    },
    scan: (over = {}) => app('scan', { ...scanOf(corridor), ...over }),
    confirm: () => app('confirm', undefined, withKey(`confirm ${entities.length} ${name}`)),
    renewSession: async () => {
      const call = () => partner.request('POST', `${path()}/session`, sessionOf(request))
      const answer = await retryUntilFinal(call)
      token = (expected(answer, 200).body as { session_token: string }).session_token
    },
    cancel: () =>
      repeat('cancelled', async () => {
        const { status } = await partner.request('POST', `${path()}/cancel`)
        return status === 200 || (await view())['status'] === 'cancelled'
      }),
    refund: () =>
      retryUntilFinal(() =>
        partner.request('POST', `${path()}/refund`, undefined, withKey(`refund ${name}`)),
      ),
    payOut: async (account, over = {}) => {
      const body = { beneficiary: payeeOf(account), ...over }
      const answer = await retryUntilFinal(() => requestPayout(partner, `payout ${name}`, body))
      const id = answer.status < 300 ? idIn(answer) : undefined
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
