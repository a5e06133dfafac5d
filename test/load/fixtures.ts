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
  const create = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { 'Idempotency-Key': randomUUID() }
    const { status, text, body: made } = await partner.request('POST', path, body, { headers })
    if (status < 300) return made as Record<string, string>
    throw new Error(`fixtures: POST ${path} answered ${status} ${text}`)
  }
  for (const currency of ['USD', 'VND']) {
    await create('/v1/funding/deposits', { currency, amount: DEPOSIT })
  }
  const beneficiaries = await idsOf(BENEFICIARIES, async (index) => {
    const account_number = String(100_000_000 + index)
    return (await create('/v1/beneficiaries', { ...aPayout().beneficiary, account_number }))['id']
  })
  const payouts = await idsOf(OF_EACH, async (index) => {
    const beneficiary_id = beneficiaries[index % BENEFICIARIES]
    const terms = { amount: '125000', currency: 'VND', reference: referenceOf(index) }
    return (await create('/v1/payouts', { ...terms, beneficiary_id }))['id']
  })
  const intents = await idsOf(OF_EACH, async (index) => {
    const intent = anIntent({ partner_user_id: `fixture-${index}` })
    return (await create('/v1/payment_intents', intent))['intent_id']
  })
  const references = payouts.map((_, index) => encodeURIComponent(referenceOf(index)))
  return { intents, payouts, beneficiaries, references }
}

const referenceOf = (index: number): string => `invoice ${String(index).padStart(4, '0')}`

async function idsOf(count: number, create: (index: number) => Promise<string | undefined>) {
  const ids: string[] = []
  for (let from = 0; from < count; from += CONCURRENT) {
    const size = Math.min(CONCURRENT, count - from)
    const made = await Promise.all(Array.from({ length: size }, (_, place) => create(from + place)))
    ids.push(...made.map(String))
  }
  return ids
}
