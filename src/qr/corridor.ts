/**
 * Corridors: the country, the currency and the QR scheme of a payment.
 *
 * Does not own: rates, minimums and limits of a corridor (quotes, limits).
 */
export type Corridor = 'th_promptpay' | 'vn_vietqr'

export interface CorridorFacts {
  readonly scheme: 'promptpay' | 'vietqr'
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  /** ISO 4217, letters and digits of the same currency. */
  readonly currencyAlpha: string
  readonly currencyNumeric: string
  /** Decimals of the minor unit: satang are hundredths, the dong has none. */
  readonly exponent: number
}

export const CORRIDORS: Readonly<Record<Corridor, CorridorFacts>> = {
  th_promptpay: {
    scheme: 'promptpay',
    country: 'TH',
    currencyAlpha: 'THB',
    currencyNumeric: '764',
    exponent: 2,
  },
  vn_vietqr: {
    scheme: 'vietqr',
    country: 'VN',
    currencyAlpha: 'VND',
    currencyNumeric: '704',
    exponent: 0,
  },
}

export const CORRIDOR_NAMES: readonly Corridor[] = ['th_promptpay', 'vn_vietqr']

export function isCorridor(text: string): text is Corridor {
  return Object.hasOwn(CORRIDORS, text)
}
