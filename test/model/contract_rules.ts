/**
 * The constants and calendar rules of the contract, written again for the model.
 *
 * - It imports nothing of src, so an error there is not repeated.
 */
export type CorridorName = 'th_promptpay' | 'vn_vietqr'

export interface CorridorRules {
  readonly currency: 'THB' | 'VND'
  readonly numeric: string
  readonly country: string
  readonly scheme: string
  /** Minor units per unit. */
  readonly fraction: bigint
  /** Minor units. */
  readonly minimum: bigint
  readonly perTransaction: bigint
  readonly perDay: bigint
  readonly perMonth: bigint
}

export const CORRIDOR_RULES: Readonly<Record<CorridorName, CorridorRules>> = {
  th_promptpay: {
    currency: 'THB',
    numeric: '764',
    country: 'TH',
    scheme: 'promptpay',
    fraction: 100n,
    minimum: 100n,
    perTransaction: 5_000_000n,
    perDay: 20_000_000n,
    perMonth: 100_000_000n,
  },
  vn_vietqr: {
    currency: 'VND',
    numeric: '704',
    country: 'VN',
    scheme: 'vietqr',
    fraction: 1n,
    minimum: 1_000n,
    perTransaction: 5_000_000n,
    perDay: 10_000_000n,
    perMonth: 25_000_000n,
  },
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const SESSION_TTL = 300 * SECOND
export const RECEIPT_TTL = 300 * SECOND
export const QUOTE_TTL = 300 * SECOND
export const INTENT_TTL = 30 * MINUTE
export const SUBMIT_WITHIN = 60 * SECOND
export const DUPLICATE_WINDOW = 60 * SECOND
export const REFUNDABLE_FOR = 90 * DAY

/** The time of status inquiry `number` after `from`, counted from 0; two are 5 s apart. */
export function inquiryAt(from: number, number: number, now: number): number {
  const early = [5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR]
  return Math.max(from + (early[number] ?? (number - 6) * DAY), now + 5 * SECOND)
}

const LOCAL = 7 * HOUR

/** The payer's local day and month, e.g. `2026-11-21` and `2026-11`. */
export function periodsAt(at: number): readonly [day: string, month: string] {
  const local = new Date(at + LOCAL)
  const two = (value: number): string => String(value).padStart(2, '0')
  const month = `${local.getUTCFullYear()}-${two(local.getUTCMonth() + 1)}`
  return [`${month}-${two(local.getUTCDate())}`, month]
}

/** The next local midnight, optionally that of the next month's first day. */
export function nextMidnight(at: number, ofMonth: boolean): number {
  const local = new Date(at + LOCAL)
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()]
  return (ofMonth ? Date.UTC(year, month + 1, 1) : Date.UTC(year, month, day + 1)) - LOCAL
}

/** A rate's decimal text as a fraction. */
function fractionOf(text: string): readonly [numerator: bigint, denominator: bigint] {
  const [whole = '', decimals = ''] = text.split('.')
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)]
}

/** US cents that a local amount costs at a rate, rounded up. */
export function centsOf(minor: bigint, { fraction }: CorridorRules, rateText: string): number {
  const [numerator, denominator] = fractionOf(rateText)
  const dividend = minor * 100n * denominator
  const divisor = numerator * fraction
  return Number(dividend / divisor + (dividend % divisor === 0n ? 0n : 1n))
}

/** The largest local amount that costs no more than these cents. */
export function largestAmountFor(
  cents: number,
  { fraction }: CorridorRules,
  rateText: string,
): bigint {
  const [numerator, denominator] = fractionOf(rateText)
  return (BigInt(cents) * numerator * fraction) / (100n * denominator)
}
