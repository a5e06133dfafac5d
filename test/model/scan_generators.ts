/** Generators of scans: the merchant's code and the amount. */
import fc from 'fast-check'
import { callers, onIntent, seldom, tokenOf } from './generator.js'
import { CORRIDOR_RULES, largestAmountFor, type CorridorName } from './contract_rules.js'
import { BAD_CODES, MERCHANT_CODES, type MerchantCode } from './merchant_codes.js'
import { scan } from './operations.js'
import { usedIn, type Model, type ModelIntent } from './model.js'

const CODES: Readonly<Record<CorridorName, readonly MerchantCode[]>> = {
  th_promptpay: Object.values(MERCHANT_CODES).filter((c) => c.corridor === 'th_promptpay'),
  vn_vietqr: Object.values(MERCHANT_CODES).filter((c) => c.corridor === 'vn_vietqr'),
}
const BAD = Object.keys(BAD_CODES)

const codes = fc.oneof(
  { weight: 12, arbitrary: fc.record({ of: fc.constant('corridor' as const), n: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ of: fc.constant('other' as const), n: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ of: fc.constant('none' as const), n: fc.nat(9) }) },
)

export function codeFor(
  { of, n }: { readonly of: 'corridor' | 'other' | 'none'; readonly n: number },
  corridor: CorridorName,
): MerchantCode | string {
  if (of === 'none') return BAD[n % BAD.length]!
  const isThai = (corridor === 'th_promptpay') === (of === 'corridor')
  const list = CODES[isThai ? 'th_promptpay' : 'vn_vietqr']
  return list[n % list.length]!
}

const AMOUNTS = [
  'usual',
  'fitting',
  'absent',
  'zero',
  'negative',
  'minimum',
  'transaction',
  'day',
  'month',
  'ceiling',
  'prefund',
] as const
type Meaning = (typeof AMOUNTS)[number]

export const amounts = fc.record({
  meaning: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Meaning>('fitting') },
    { weight: 2, arbitrary: fc.constantFrom(...AMOUNTS) },
  ),
  over: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0n) },
    { weight: 1, arbitrary: fc.constantFrom(-1n, 1n) },
  ),
})

const USUAL: Readonly<Record<CorridorName, bigint>> = { th_promptpay: 36_000n, vn_vietqr: 100_000n }

/** The client's amount: the largest that a limit allows, and one more or less. */
export function amountFor(
  { meaning, over }: { readonly meaning: Meaning; readonly over: bigint },
  intent: ModelIntent,
  code: MerchantCode | string,
  model: Model,
): string | null {
  if (meaning === 'absent') return null
  if (meaning === 'zero') return '0'
  if (meaning === 'negative') return '-36000'
  const isRequired = typeof code === 'string' || code.amount === null
  if (meaning === 'fitting' && !isRequired) return null
  const rules = CORRIDOR_RULES[intent.corridor]
  const rate = model.rates[rules.currency]
  const [day, month] = usedIn(model, intent, model.now)
  const most: Readonly<Record<Exclude<Meaning, 'absent' | 'zero' | 'negative'>, bigint>> = {
    usual: USUAL[intent.corridor],
    fitting: USUAL[intent.corridor],
    minimum: rules.minimum,
    transaction: rules.perTransaction,
    day: rules.perDay - day,
    month: rules.perMonth - month,
    ceiling: largestAmountFor(intent.cents, rules, rate),
    prefund: largestAmountFor(Number(model.prefund), rules, rate),
  }
  const amount = meaning === 'fitting' ? most.fitting : most[meaning] + over
  return amount.toString()
}

export const scanning = onIntent(
  'scan',
  fc.record({
    by: callers,
    token: fc.nat(2),
    code: codes,
    amount: amounts,
    acknowledged: seldom(2),
  }),
  ({ by, token, code: generated, amount: generatedAmount, acknowledged }, intent, model) => {
    const code = codeFor(generated, intent.corridor)
    const amount = amountFor(generatedAmount, intent, code, model)
    return scan({ by, intent, jti: tokenOf(intent, token), code, amount, acknowledged })
  },
)
