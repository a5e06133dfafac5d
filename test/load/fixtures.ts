/** The balances and objects that a stack has before the load. */
import { randomUUID } from 'node:crypto'
import type { Connection } from '../../src/client/index.js'
import { anIntent, aPayout } from '../support/requests.js'

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
  const create = async (path: string, body: object): Promise<string> => {
    const headers = { 'Idempotency-Key': randomUUID() }
    const { status, text, body: made } = await partner.request('POST', path, body, { headers })
    if (status >= 300) throw new Error(`fixtures: POST ${path} answered ${status} ${text}`)
    const { id, intent_id = id } = made as Record<string, string>
    return String(intent_id)
  }
  const many = async (count: number, path: string, bodyOf: (index: number) => object) => {
    const ids: string[] = []
    for (let from = 0; from < count; from += CONCURRENT) {
      const indexes = Array.from({ length: Math.min(CONCURRENT, count - from) }, (_, i) => from + i)
      ids.push(...(await Promise.all(indexes.map((index) => create(path, bodyOf(index))))))
    }
    return ids
  }
  for (const currency of ['USD', 'VND']) {
    await create('/v1/funding/deposits', { currency, amount: DEPOSIT })
  }
  const beneficiaries = await many(BENEFICIARIES, '/v1/beneficiaries', (index) => {
    return { ...aPayout().beneficiary, account_number: String(100_000_000 + index) }
  })
  const payouts = await many(OF_EACH, '/v1/payouts', (index) => {
    const beneficiary_id = beneficiaries[index % BENEFICIARIES]
    return { amount: '125000', currency: 'VND', beneficiary_id, reference: referenceOf(index) }
  })
  const intents = await many(OF_EACH, '/v1/payment_intents', (index) =>
    anIntent({ partner_user_id: `fixture-${index}` }),
  )
  const references = payouts.map((_, index) => encodeURIComponent(referenceOf(index)))
  return { intents, payouts, beneficiaries, references }
}

const referenceOf = (index: number): string => `invoice ${String(index).padStart(4, '0')}`
