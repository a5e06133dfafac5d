/** The scenarios: the requests of simulated partners, and the criteria of a successful journey. */
import { randomBytes } from 'node:crypto'
import { createPresignedRequests, type PresignedRequests } from '../client/presigned_requests.js'
import type { Key } from '../../support/operators.js'
import { pathOf } from '../../support/lifecycle.js'
import { anIntent, scanOf } from '../../support/requests.js'
import type { Fixtures } from '../fixtures.js'
import { COMPLETED, unexpected, type Accepted, type Next, type Scenario } from './scenario.js'

export const SCENARIOS = {
  creates: 'signed durable creates of intents',
  lifecycle: 'QR payment: create, scan, confirm, captured, webhook answered',
  payouts: 'payout: create, completed, webhook answered',
  reads: 'signed GETs of intents, payouts, balances and pages of lists',
  mixed: '40 % reads, 35 % creates, 15 % payouts, 10 % QR payments',
  webhooks: 'payouts with three events each, delivered to ten endpoints',
} as const
export type ScenarioName = keyof typeof SCENARIOS

export const isScenario = (name: string): name is ScenarioName => Object.hasOwn(SCENARIOS, name)

/** The input of a scenario's thread; plain data. */
export interface ScenarioOrder extends Key {
  readonly name: ScenarioName
  readonly host: string
  /** Payment journeys end with their webhook. Without it, with the last answer. */
  readonly awaitsWebhooks: boolean
  readonly fixtures: Fixtures
  /** The only kind of read that `reads` sends. */
  readonly onlyRead?: string | undefined
}

type Create = (order: ScenarioOrder, accepted: Accepted) => Scenario

export const createScenario: Create = (order, accepted) => CREATE[order.name](order, accepted)

const CREATE: Readonly<Record<ScenarioName, Create>> = {
  creates: (order, accepted) => createIntents(order, accepted),
  lifecycle: (order, accepted) => payByQr(order, accepted),
  payouts: (order, accepted) => createPayouts(order, accepted),
  webhooks: (order, accepted) => createPayouts(order, accepted),
  reads: (order) => createReads(order),
  mixed: (order, accepted) =>
    createWorkloadMix([
      { weight: 40, scenario: createReads(order) },
      { weight: 35, scenario: createIntents(order, accepted) },
      { weight: 15, scenario: createPayouts(order, accepted) },
      { weight: 10, scenario: payByQr(order, accepted) },
    ]),
}

/**
 * Several scenarios as one. The proportions hold over every run of journeys: parts alternate by
 * weight, nothing is random.
 */
export function createWorkloadMix(
  parts: readonly { readonly weight: number; readonly scenario: Scenario }[],
): Scenario {
  if (parts.length === 1) return parts[0]!.scenario
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const credits = parts.map(() => 0)
  const current = new Map<number, Scenario>()

  return {
    prepare: (journeys, continues) => {
      for (const { weight, scenario } of parts) {
        scenario.prepare(Math.ceil((journeys * weight) / total) + 1, continues)
      }
    },
    /** The part that is furthest behind its share is next. */
    begin: (connection) => {
      for (const [index, { weight }] of parts.entries()) credits[index]! += weight
      const best = credits.indexOf(Math.max(...credits))
      credits[best]! -= total
      const { scenario } = parts[best]!
      current.set(connection, scenario)
      return scenario.begin(connection)
    },
    operation: (connection) => current.get(connection)!.operation(connection),
    proceed: (connection, response) => current.get(connection)!.proceed(connection, response),
  }
}

/**
 * Journeys of one presigned request each.
 *
 * @param accept handles the body of an answer with the expected status
 */
const singleRequest = (
  operation: string,
  { prepare, next: begin }: PresignedRequests,
  status: number,
  accept: (body: Buffer) => Next = () => COMPLETED,
): Scenario => ({
  ...{ prepare, begin, operation: () => operation },
  proceed: (_connection, response) =>
    response.status === status ? accept(response.body) : unexpected(response),
})

const INTENTS = '/v1/payment_intents'
/** Distinct users of a scenario; each returns after this many payments. */
const USERS = 50_000
const SAMPLE_EVERY = 1_000
/** The request of every create, but for its user. */
export const INTENT = anIntent({ amount_usd_cents: 2_500 })

type CreatedIntent = Readonly<Record<'intent_id' | 'session_token', string>>
const createdIntent = (body: Buffer) => JSON.parse(body.toString()) as CreatedIntent

/** Creates for one user after the other; no other scenario has the same users. */
function intentRequests(order: ScenarioOrder): PresignedRequests {
  let user = 0
  const group = randomBytes(4).toString('hex')
  const terms = JSON.stringify({ ...INTENT, partner_user_id: undefined }).slice(1)
  const next = () => {
    user = (user + 1) % USERS
    const name = `load-${group}-${String(user).padStart(8, '0')}`
    return { target: INTENTS, body: `{"partner_user_id":"${name}",${terms}` }
  }
  return createPresignedRequests('POST', next, order)
}

const createIntents = (order: ScenarioOrder, accepted: Accepted): Scenario =>
  singleRequest('create an intent', intentRequests(order), 201, (body) => {
    const { intents, samples } = accepted
    if (intents >= samples.length * SAMPLE_EVERY) samples.push(createdIntent(body).intent_id)
    accepted.intents += 1
    return COMPLETED
  })

function createPayouts(order: ScenarioOrder, accepted: Accepted): Scenario {
  const { beneficiaries } = order.fixtures
  let made = 0
  const next = () => {
    made += 1
    const beneficiary = beneficiaries[made % beneficiaries.length] ?? ''
    const body =
      `{"amount":"125000","currency":"VND","beneficiary_id":"${beneficiary}",` +
      `"reference":"invoice ${String(made % 1_000).padStart(4, '0')}",` +
      '"metadata":{"order":"from the load tool"}}'
    return { target: '/v1/payouts', body }
  }
  return singleRequest('payout', createPresignedRequests('POST', next, order), 202, (body) => {
    accepted.payouts += 1
    if (!order.awaitsWebhooks) return COMPLETED
    return { kind: 'awaits_webhook', entity: (JSON.parse(body.toString()) as { id: string }).id }
  })
}

/** Satang, about 2.80 dollars. The amounts of a user differ, so no payment is a duplicate. */
const FIRST_AMOUNT = 10_000

/** The create is presigned; scan and confirm carry the session token of its answer. */
function payByQr(order: ScenarioOrder, accepted: Accepted): Scenario {
  const requests = intentRequests(order)
  const scanned = `{"qr_payload":"${scanOf().qr_payload}",`
  type Step = 'scan' | 'confirm' | 'end'
  const payments: { next: Step; amount: number; intent?: CreatedIntent }[] = []
  let begun = 0
  const send = (intent: CreatedIntent, action: string, header: string, body: string): Buffer =>
    Buffer.from(
      `POST ${pathOf(intent.intent_id)}/${action} HTTP/1.1\r\nHost: ${order.host}\r\n` +
        `Authorization: Bearer ${intent.session_token}\r\nContent-Type: application/json\r\n` +
        `${header}Content-Length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    )
  return {
    prepare: requests.prepare,
    operation: () => 'QR payment',
    begin: (connection) => {
      payments[connection] = { next: 'scan', amount: FIRST_AMOUNT + Math.floor(begun / USERS) }
      begun += 1
      return requests.next()
    },
    proceed: (connection, response) => {
      const payment = payments[connection]!
      const { next, amount } = payment
      if (response.status !== (next === 'scan' ? 201 : 200)) return unexpected(response)
      const intent = (payment.intent ??= createdIntent(response.body))
      if (next === 'scan') {
        accepted.intents += 1
        payment.next = 'confirm'
        return send(intent, 'scan', '', `${scanned}"local_amount_minor_units":"${amount}"}`)
      }
      if (next === 'confirm') {
        payment.next = 'end'
        return send(intent, 'confirm', `Idempotency-Key: ${intent.intent_id}\r\n`, '')
      }
      const awaited = { kind: 'awaits_webhook', entity: intent.intent_id } as const
      return order.awaitsWebhooks ? awaited : COMPLETED
    },
  }
}

/** The reads of a partner that polls and reconciles. All objects exist before the load. */
export function readsOf({ intents, payouts, beneficiaries, references }: Fixtures) {
  /** @param ids in turn, in place of the star */
  const read = (name: string, weight: number, path: string, ids: readonly string[] = ['']) => ({
    ...{ name, weight, targets: ids.map((id) => path.replace('*', id)) },
  })
  const page = 'limit=20'
  return [
    read('intent', 40, `${INTENTS}/*`, intents),
    read('payout', 30, '/v1/payouts/*', payouts),
    read('payouts', 8, `/v1/payouts?${page}`),
    read('payouts by status', 6, `/v1/payouts?status=completed&${page}`),
    read('payouts by reference', 5, `/v1/payouts?reference=*&${page}`, references),
    read('payouts by beneficiary', 4, `/v1/payouts?beneficiary_id=*&${page}`, beneficiaries),
    read('beneficiaries', 2, `/v1/beneficiaries?${page}`),
    read('balance transactions', 2, `/v1/balance_transactions?${page}`),
    read('balances', 3, '/v1/balances'),
  ]
}

function createReads(order: ScenarioOrder): Scenario {
  const reads = readsOf(order.fixtures).filter(({ name }) => name === (order.onlyRead ?? name))
  return createWorkloadMix(
    reads.map(({ name, weight, targets }) => {
      let index = 0
      const next = () => ({ target: targets[(index += 1) % targets.length] ?? '', body: '' })
      const requests = createPresignedRequests('GET', next, order)
      return { weight, scenario: singleRequest(`read ${name}`, requests, 200) }
    }),
  )
}
