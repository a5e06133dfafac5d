/**
 * What a stack holds before the load: money to pay with, and things to read.
 *
 * Owns: laying it in, as a partner would. Does not own: millions of rows (seed).
 */
import { connect, type Answer, type Connection } from '../../../src/client/index.js'
import { credentialsOf, type Sandbox } from '../../../src/operations/sandbox.js'
import { AMOUNT_USD_CENTS, PATH } from './create_intents.js'
import { PAYOUTS_PATH } from './create_payouts.js'

/** Texts of one kind have one length, as requests are filled in place (form). */
export interface Fixtures {
  readonly intents: readonly string[]
  readonly payouts: readonly string[]
  readonly beneficiaries: readonly string[]
  /** As they stand in a query. */
  readonly references: readonly string[]
}

export const BENEFICIARY_ID_WIDTH = 30
const BENEFICIARIES = 50
const OF_EACH = 100
const AT_ONCE = 20
/** More than any run pays out, far below what an account can hold. */
const DEPOSIT = '100000000000000000'

export async function layIn(sandbox: Sandbox): Promise<Fixtures> {
  const partner = connect(credentialsOf(sandbox, 'Service'))
  for (const currency of ['USD', 'VND']) {
    await made(partner, '/v1/funding/deposits', { currency, amount: DEPOSIT })
  }
  const beneficiaries = await many(BENEFICIARIES, (index) => layInBeneficiary(partner, index))
  const payouts = await many(OF_EACH, (index) =>
    layInPayout(partner, beneficiaries[index % beneficiaries.length] ?? '', referenceOf(index)),
  )
  const intents = await many(OF_EACH, (index) => layInIntent(partner, index))
  const references = Array.from({ length: OF_EACH }, (_, index) =>
    encodeURIComponent(referenceOf(index)),
  )
  return { intents, payouts, beneficiaries, references }
}

const referenceOf = (index: number): string => `invoice ${String(index).padStart(4, '0')}`

async function layInBeneficiary(partner: Connection, index: number): Promise<string> {
  const { id } = await made(partner, '/v1/beneficiaries', {
    type: 'bank_account',
    name: `Nguyen Van ${index}`,
    destination_country: 'VN',
    currency: 'VND',
    account_number: String(100_000_000 + index),
    bank_code: '970436',
  })
  return String(id)
}

async function layInPayout(
  partner: Connection,
  beneficiary: string,
  reference: string,
): Promise<string> {
  const body = { amount: '125000', currency: 'VND', beneficiary_id: beneficiary, reference }
  const key = { headers: { 'Idempotency-Key': `stock ${reference} ${beneficiary}` } }
  const { id } = fields(await partner.request('POST', PAYOUTS_PATH, body, key))
  return String(id)
}

async function layInIntent(partner: Connection, index: number): Promise<string> {
  const { intent_id: id } = await made(partner, PATH, {
    partner_user_id: `stock-${index}`,
    amount_usd_cents: AMOUNT_USD_CENTS,
    corridor: 'th_promptpay',
    kyc_attestation: { verified: true, method: 'bank_id', verified_at: '2026-01-01T00:00:00Z' },
    sanctions_attestation: { clean: true, screened_at: '2026-01-01T00:00:00Z' },
  })
  return String(id)
}

type Fields = Readonly<Record<string, unknown>>

const made = async (partner: Connection, path: string, body: object): Promise<Fields> =>
  fields(await partner.request('POST', path, body))

function fields({ status, text, body }: Answer): Fields {
  if (status >= 300) throw new Error(`the stock cannot be laid in: ${status} ${text}`)
  return body as Fields
}

async function many<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (let from = 0; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from)
    all.push(...(await Promise.all(Array.from({ length: size }, (_, i) => make(from + i)))))
  }
  return all
}
