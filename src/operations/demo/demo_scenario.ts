/**
 * The demo: a webhook receiver, a QR payment in Thailand, one in Vietnam, a payout, the ledger.
 *
 * - Each run draws new users and idempotency keys, so the demo can be repeated.
 * - An unexpected result ends the demo with a DemoFailure that says what came instead.
 */
import { randomUUID } from 'node:crypto'
import { SECOND, toRfc3339, type Clock } from '../../base/clock.js'
import { THB, USD, VND } from '../../money/currency.js'
import { money } from '../../money/money.js'
import { formatAmount, formatWireAmount } from '../cli/amounts.js'
import type { DemoOutput } from './demo_output.js'
import type { OperatorClient } from '../calls/operator_client.js'
import type { HttpAnswer, Connection } from '../../client/index.js'
import { openReceiver, type Receiver } from '../partners/webhook_receiver.js'
import { promptPayCode, vietQrCode } from './sample_qr.js'
import { sumsOf } from '../money/trial_balance.js'

const TIMEOUT_MS = 30 * SECOND
const POLL_INTERVAL_MS = 50

export class DemoFailure extends Error {
  override name = 'DemoFailure'
}

export interface DemoContext {
  readonly partner: Connection
  readonly operator: OperatorClient
  readonly brand: string
  readonly clock: Clock
  readonly output: DemoOutput
}

export async function runDemo(demo: DemoContext): Promise<void> {
  const { output } = demo
  output.chapter('A receiver for webhooks')
  const hooks = await openHooks(demo)
  try {
    output.chapter('Thailand: a static PromptPay code, the customer enters the amount')
    const thai = await payByQr(demo, {
      corridor: 'th_promptpay',
      code: promptPayCode('0812345678'),
      ceilingCents: 1_000,
      amount: { local_amount_minor_units: '25000' },
      local: formatAmount(money(THB, 25_000n)),
    })
    output.chapter('Vietnam: a dynamic VietQR code that contains the amount')
    const vietnamese = await payByQr(demo, {
      corridor: 'vn_vietqr',
      code: vietQrCode('970436', '1023456789', '180000'),
      ceilingCents: 1_000,
      amount: {},
      local: formatAmount(money(VND, 180_000n)),
    })
    output.chapter('A payout in VND from the prefund')
    const payout = await payOut(demo)

    output.chapter('The webhooks that arrived')
    await expectWebhooks(demo, hooks.receiver, [
      ['payment_intent.captured', thai],
      ['payment_intent.captured', vietnamese],
      ['payout.created', payout],
      ['payout.processing', payout],
      ['payout.completed', payout],
    ])
    output.chapter('The ledger')
    await readTheBooks(demo)
  } finally {
    await hooks.close()
  }
}

interface Hooks {
  readonly receiver: Receiver
  close(): Promise<void>
}

async function openHooks({ partner, output, clock, brand }: DemoContext): Promise<Hooks> {
  const secrets = new Map<string, string>()
  const receiver = await openReceiver({
    clock,
    brand,
    port: 0,
    secretOf: (keyId) => secrets.get(keyId),
  })
  const url = `${receiver.url}/hooks`
  const endpoint = fields(await partner.request('POST', '/v1/webhook_endpoints', { url }), 201)
  const id = String(endpoint['id'])
  secrets.set(String(endpoint['key_id']), String(endpoint['secret']))
  output.check(`${id} sends every event to ${url}`)
  return {
    receiver,
    close: async () => {
      // If the service is down, report the first failure, not this one.
      await partner.request('DELETE', `/v1/webhook_endpoints/${id}`).catch(() => undefined)
      await receiver.close()
    },
  }
}

interface Purchase {
  readonly corridor: string
  readonly code: string
  readonly ceilingCents: number
  /** What the app adds to the scan. */
  readonly amount: object
  readonly local: string
}

/** @returns the intent's id */
async function payByQr(demo: DemoContext, purchase: Purchase): Promise<string> {
  const { partner, output, clock } = demo
  const created = fields(
    await partner.request('POST', '/v1/payment_intents', {
      partner_user_id: `demo-${randomUUID()}`,
      amount_usd_cents: purchase.ceilingCents,
      corridor: purchase.corridor,
      kyc_attestation: {
        verified: true,
        method: 'document',
        verified_at: toRfc3339(clock.now()),
      },
      sanctions_attestation: { clean: true, screened_at: toRfc3339(clock.now()) },
    }),
    201,
  )
  const id = String(created['intent_id'])
  const path = `/v1/payment_intents/${id}`
  expectStatus(created, 'created')
  output.check(`${id} created: up to ${dollars(purchase.ceilingCents)}`)
  output.print(`the shop shows ${shortened(purchase.code)}`)

  const app = partner.session(String(created['session_token']))
  const scan = { qr_payload: purchase.code, ...purchase.amount }
  const scanned = fields(await app.request('POST', `${path}/scan`, scan), 200)
  const quote = scanned['quote'] as { quote_id: string; amount_usd_cents: number }
  output.check(
    `scanned, a ${String(scanned['qr_kind'])} code: ${purchase.local} for ` +
      `${dollars(quote.amount_usd_cents)} (${quote.quote_id})`,
  )

  const headers = { 'Idempotency-Key': randomUUID() }
  const confirmed = await app.request('POST', `${path}/confirm`, undefined, { headers })
  expectStatus(fields(confirmed, 200), 'authorized')
  output.check('confirmed: authorized, the instruction goes to the rail')

  const fetchIntent = () => partner.request('GET', path)
  const took = await until(demo, `${id} is captured`, async () =>
    isStatus(fields(await fetchIntent(), 200), 'captured', ['failed', 'expired', 'cancelled']),
  )
  output.check(`captured after ${took}: the merchant is paid`)
  return id
}

/** @returns the payout's id */
async function payOut(demo: DemoContext): Promise<string> {
  const { partner, output } = demo
  const created = fields(
    await partner.request(
      'POST',
      '/v1/payouts',
      {
        amount: '1250000',
        currency: 'VND',
        beneficiary: {
          type: 'bank_account',
          name: 'Nguyen Thi Lan',
          destination_country: 'VN',
          currency: 'VND',
          account_number: '0071001234567',
          bank_code: '970436',
        },
        reference: 'invoice 2026-114',
      },
      { headers: { 'Idempotency-Key': randomUUID() } },
    ),
    202,
  )
  const id = String(created['id'])
  expectStatus(created, 'processing')
  const [amount, fee] = [inMajors(created, 'amount'), inMajors(created, 'fee')]
  const last4 = String((created['beneficiary'] as { account_last4: string }).account_last4)
  output.check(`${id} accepted: ${amount} to the account ending in ${last4}`)
  output.print(`fee ${fee}, ${inMajors(created, 'total')} reserved`)

  const took = await until(demo, `${id} is completed`, async () =>
    isStatus(fields(await partner.request('GET', `/v1/payouts/${id}`), 200), 'completed', [
      'failed',
    ]),
  )
  output.check(`completed after ${took}`)
  return id
}

/** Waits for the events and checks the signature of every delivery. */
async function expectWebhooks(
  demo: DemoContext,
  receiver: Receiver,
  expected: readonly (readonly [type: string, about: string])[],
): Promise<void> {
  for (const [type, about] of expected) {
    let eventId = ''
    await until(demo, `${type} of ${about} arrives`, () => {
      const found = [...receiver.events.values()].find(
        (event) => event.eventType === type && event.body.includes(about),
      )
      eventId = found?.eventId ?? ''
      return Promise.resolve(found !== undefined)
    })
    demo.output.check(`${type.padEnd(24)} ${eventId}`)
  }
  const invalid = receiver.deliveries.find(
    ({ verdict }) => verdict !== 'valid' && verdict !== 'duplicate',
  )
  if (invalid !== undefined)
    throw new DemoFailure(`${invalid.eventId} was refused: ${invalid.verdict}`)
  demo.output.check(`all ${receiver.deliveries.length} signatures are valid`)
}

async function readTheBooks({ operator, output }: DemoContext): Promise<void> {
  const report = await operator.call('TrialBalance', {})
  for (const [code, sum] of sumsOf(report.lines)) {
    if (sum !== 0n) throw new DemoFailure(`the ${code} accounts sum to ${sum}, not to zero`)
    const accounts = report.lines.filter(({ currency }) => currency === code).length
    output.check(`${code}: ${accounts} accounts, sum zero`)
  }
  if (!report.balanced) throw new DemoFailure('the service reports that its books do not balance')
}

type Fields = Readonly<Record<string, unknown>>

/** @throws DemoFailure unless the answer has the expected status */
function fields({ status, text, body }: HttpAnswer, wanted: number): Fields {
  if (status !== wanted) throw new DemoFailure(`expected ${wanted}, got ${status}: ${text}`)
  return body as Fields
}

function expectStatus(object: Fields, wanted: string): void {
  if (object['status'] === wanted) return
  throw new DemoFailure(`expected status "${wanted}", got "${String(object['status'])}"`)
}

/** @throws DemoFailure when the status is one that cannot become the expected one */
function isStatus(object: Fields, wanted: string, dead: readonly string[]): boolean {
  if (dead.includes(String(object['status']))) expectStatus(object, wanted)
  return object['status'] === wanted
}

/** @returns the elapsed time as text */
async function until(
  { clock }: DemoContext,
  what: string,
  isDone: () => Promise<boolean>,
): Promise<string> {
  const start = clock.now()
  while (!(await isDone())) {
    if (clock.now() - start > TIMEOUT_MS) {
      throw new DemoFailure(`timed out after ${TIMEOUT_MS / SECOND} s: ${what}`)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
  }
  return `${((clock.now() - start) / SECOND).toFixed(1)} s`
}

const dollars = (cents: number): string => formatAmount(money(USD, BigInt(cents)))

const inMajors = (object: Fields, name: string): string =>
  formatWireAmount(String(object['currency']), String(object[name]))

const shortened = (code: string): string => `${code.slice(0, 36)}…${code.slice(-8)}`
