/** The balances and objects that a stack has before the load. */
import type { HttpAnswer, Connection } from '../../src/client/index.js'
import { INTENT_TERMS } from './scenarios/scenarios.js'

/** Texts of one kind have one length, as presigned requests require. */
export interface Fixtures {
  readonly intents: readonly string[]
  readonly payouts: readonly string[]
  readonly beneficiaries: readonly string[]
  /** URL-encoded. */
  readonly references: readonly string[]
}

const BENEFICIARIES = 50
const OF_EACH = 100
const CONCURRENT = 20
/** More than any run pays out, far below what an account can hold. */
const DEPOSIT = '100000000000000000'

export async function createFixtures(partner: Connection): Promise<Fixtures> {
  const create = async (path: string, body: object, key = ''): Promise<Record<string, unknown>> => {
    const headers: Record<string, string> = key === '' ? {} : { 'Idempotency-Key': key }
    const answer: HttpAnswer = await partner.request('POST', path, body, { headers })
    if (answer.status < 300) return answer.body as Record<string, unknown>
    throw new Error(`fixtures: POST ${path} answered ${answer.status} ${answer.text}`)
  }
  for (const currency of ['USD', 'VND']) {
    await create('/v1/funding/deposits', { currency, amount: DEPOSIT })
  }
  const beneficiaries = await many(BENEFICIARIES, async (index) => {
    const beneficiary = {
      ...{ type: 'bank_account', name: `Nguyen Van ${index}`, destination_country: 'VN' },
      ...{ currency: 'VND', account_number: String(100_000_000 + index), bank_code: '970436' },
    }
    return String((await create('/v1/beneficiaries', beneficiary))['id'])
  })
  const payouts = await many(OF_EACH, async (index) => {
    const beneficiary_id = beneficiaries[index % BENEFICIARIES]
    const reference = referenceOf(index)
    const payout = { amount: '125000', currency: 'VND', beneficiary_id, reference }
    const key = `fixture ${reference} ${beneficiary_id}`
    return String((await create('/v1/payouts', payout, key))['id'])
  })
  const intents = await many(OF_EACH, async (index) => {
    const intent = { partner_user_id: `fixture-${index}`, ...INTENT_TERMS }
    return String((await create('/v1/payment_intents', intent))['intent_id'])
  })
  const references = payouts.map((_, index) => encodeURIComponent(referenceOf(index)))
  return { intents, payouts, beneficiaries, references }
}

const referenceOf = (index: number): string => `invoice ${String(index).padStart(4, '0')}`

async function many<T>(count: number, create: (index: number) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (let from = 0; from < count; from += CONCURRENT) {
    const size = Math.min(CONCURRENT, count - from)
    all.push(...(await Promise.all(Array.from({ length: size }, (_, i) => create(from + i)))))
  }
  return all
}
