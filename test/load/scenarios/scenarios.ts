/** The scenarios: the requests of simulated partners, and the criteria of a successful journey. */
import type { Clock } from '../../../src/base/clock.js'
import type { Random } from '../../../src/base/random.js'
import { promptPayCode } from '../../../src/operations/sample_qr.js'
import type { HttpResponse } from '../client/http_socket.js'
import { createPresignedRequests, type PresignedRequests } from '../client/presigned_requests.js'
import type { Fixtures } from '../fixtures.js'
import { COMPLETED, NOTHING_ACCEPTED, unexpected, type Next, type Scenario } from './scenario.js'
import { createWorkloadMix } from './workload_mix.js'

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
export interface ScenarioOrder {
  readonly name: ScenarioName
  readonly host: string
  readonly keyId: string
  readonly secret: string
  /** Payment journeys end with their webhook. Without it, with the last answer. */
  readonly awaitsWebhooks: boolean
  readonly fixtures: Fixtures
  /** Of `reads`: one kind alone. */
  readonly onlyRead?: string | undefined
}

export interface ScenarioOptions extends ScenarioOrder {
  readonly connections: number
  readonly clock: Clock
  readonly random: Random
}

export function createScenario(options: ScenarioOptions): Scenario {
  switch (options.name) {
    case 'creates':
      return createIntents(options)
    case 'lifecycle':
      return payByQr(options)
    case 'payouts':
    case 'webhooks':
      return createPayouts(options)
    case 'reads':
      return createReads(options)
    case 'mixed':
      return createWorkloadMix([
        { weight: 40, scenario: createReads(options) },
        { weight: 35, scenario: createIntents(options) },
        { weight: 15, scenario: createPayouts(options) },
        { weight: 10, scenario: payByQr(options) },
      ])
  }
}

/** Journeys of one presigned request each. */
const singleRequest = (
  requests: PresignedRequests,
  judge: (response: HttpResponse) => Next,
  accepted: Scenario['accepted'] = () => NOTHING_ACCEPTED,
): Scenario => ({
  prepare: requests.prepare,
  begin: () => requests.next(),
  proceed: (_connection, response) => judge(response),
  accepted,
})

const INTENTS = '/v1/payment_intents'
/** Distinct users of a scenario; each returns after this many payments. */
const USERS = 50_000
const SAMPLE_EVERY = 1_000
/** Of a create, beside the user. */
export const INTENT_TERMS = {
  amount_usd_cents: 2_500,
  corridor: 'th_promptpay',
  kyc_attestation: { verified: true, method: 'bank_id', verified_at: '2026-01-01T00:00:00Z' },
  sanctions_attestation: { clean: true, screened_at: '2026-01-01T00:00:00Z' },
}

interface CreatedIntent {
  readonly intent_id: string
  readonly session_token: string
}

const createdIntent = (body: Buffer): CreatedIntent => JSON.parse(body.toString()) as CreatedIntent

/** Creates for one user after the other; no other scenario has the same users. */
function intentRequests(options: ScenarioOptions): PresignedRequests {
  let user = 0
  const group = options.random.bytes(4).toString('hex')
  const terms = JSON.stringify(INTENT_TERMS).slice(1)
  const next = () => {
    user = (user + 1) % USERS
    const name = `load-${group}-${String(user).padStart(8, '0')}`
    return { target: INTENTS, body: `{"partner_user_id":"${name}",${terms}` }
  }
  return createPresignedRequests({ method: 'POST', withKey: true, next }, options)
}

function createIntents(options: ScenarioOptions): Scenario {
  const samples: string[] = []
  let intents = 0
  const judge = (response: HttpResponse): Next => {
    if (response.status !== 201) return unexpected(response)
    if (intents % SAMPLE_EVERY === 0) samples.push(createdIntent(response.body).intent_id)
    intents += 1
    return COMPLETED
  }
  const accepted = () => ({ intents, payouts: 0, samples })
  return singleRequest(intentRequests(options), judge, accepted)
}

function createPayouts(options: ScenarioOptions): Scenario {
  const { beneficiaries } = options.fixtures
  let made = 0
  let payouts = 0
  const next = () => {
    made += 1
    const beneficiary = beneficiaries[made % beneficiaries.length] ?? ''
    const body =
      `{"amount":"125000","currency":"VND","beneficiary_id":"${beneficiary}",` +
      `"reference":"invoice ${String(made % 1_000).padStart(4, '0')}",` +
      '"metadata":{"order":"from the load tool"}}'
    return { target: '/v1/payouts', body }
  }
  const judge = (response: HttpResponse): Next => {
    if (response.status !== 202) return unexpected(response)
    payouts += 1
    if (!options.awaitsWebhooks) return COMPLETED
    const { id } = JSON.parse(response.body.toString()) as { id: string }
    return { kind: 'awaits_webhook', entity: id }
  }
  const accepted = () => ({ intents: 0, payouts, samples: [] })
  const requests = createPresignedRequests({ method: 'POST', withKey: true, next }, options)
  return singleRequest(requests, judge, accepted)
}

const SHOP = '0812345678'
/** Satang, about 2.80 dollars. The amounts of a user differ, so no payment is a duplicate. */
const FIRST_AMOUNT = 10_000

/** The create is presigned; scan and confirm carry the session token of its answer. */
function payByQr(options: ScenarioOptions): Scenario {
  const requests = intentRequests(options)
  const code = promptPayCode(SHOP)
  const payments = Array.from({ length: options.connections }, () => ({
    step: 'create',
    intent: { intent_id: '', session_token: '' },
    amount: 0,
  }))
  let begun = 0
  let intents = 0
  const send = (intent: CreatedIntent, action: string, header: string, body: string): Buffer =>
    Buffer.from(
      `POST ${INTENTS}/${intent.intent_id}/${action} HTTP/1.1\r\nHost: ${options.host}\r\n` +
        `Authorization: Bearer ${intent.session_token}\r\nContent-Type: application/json\r\n` +
        `${header}Content-Length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    )
  return {
    prepare: requests.prepare,
    begin: (connection) => {
      const payment = payments[connection]!
      payment.step = 'create'
      payment.amount = FIRST_AMOUNT + Math.floor(begun / USERS)
      begun += 1
      return requests.next()
    },
    proceed: (connection, response) => {
      const payment = payments[connection]!
      const { step, amount } = payment
      if (response.status !== (step === 'create' ? 201 : 200)) return unexpected(response)
      if (step === 'create') {
        intents += 1
        payment.intent = createdIntent(response.body)
        payment.step = 'scan'
        const body = `{"qr_payload":"${code}","local_amount_minor_units":"${amount}"}`
        return send(payment.intent, 'scan', '', body)
      }
      const { intent_id: entity } = payment.intent
      if (step === 'confirm') {
        return options.awaitsWebhooks ? { kind: 'awaits_webhook', entity } : COMPLETED
      }
      payment.step = 'confirm'
      return send(payment.intent, 'confirm', `Idempotency-Key: ${entity}\r\n`, '')
    },
    accepted: () => ({ intents, payouts: 0, samples: [] }),
  }
}

export interface Read {
  readonly name: string
  readonly weight: number
  /** In turn. */
  readonly targets: readonly string[]
}

/** The reads of a partner that polls and reconciles. All objects exist before the load. */
export function readsOf({
  intents,
  payouts,
  beneficiaries,
  references,
}: Fixtures): readonly Read[] {
  type Of = (name: string, weight: number, path: string, ids?: readonly string[]) => Read
  const of: Of = (name, weight, path, ids = ['']) => {
    return { name, weight, targets: ids.map((id) => path.replace('*', id)) }
  }
  const page = 'limit=20'
  return [
    of('intent', 40, `${INTENTS}/*`, intents),
    of('payout', 30, '/v1/payouts/*', payouts),
    of('payouts', 8, `/v1/payouts?${page}`),
    of('payouts by status', 6, `/v1/payouts?status=completed&${page}`),
    of('payouts by reference', 5, `/v1/payouts?reference=*&${page}`, references),
    of('payouts by beneficiary', 4, `/v1/payouts?beneficiary_id=*&${page}`, beneficiaries),
    of('beneficiaries', 2, `/v1/beneficiaries?${page}`),
    of('balance transactions', 2, `/v1/balance_transactions?${page}`),
    of('balances', 3, '/v1/balances'),
  ]
}

function createReads(options: ScenarioOptions): Scenario {
  const { fixtures, onlyRead } = options
  const judge = (response: HttpResponse): Next =>
    response.status === 200 ? COMPLETED : unexpected(response)
  const reads = readsOf(fixtures).filter(({ name }) => name === (onlyRead ?? name))
  return createWorkloadMix(
    reads.map(({ weight, targets }) => {
      let index = 0
      const next = () => ({ target: targets[(index += 1) % targets.length] ?? '', body: '' })
      const source = { method: 'GET', withKey: false, next } as const
      return { weight, scenario: singleRequest(createPresignedRequests(source, options), judge) }
    }),
  )
}
