/**
 * Corridors: the country, the currency and the QR scheme of a payment.
 *
 * Does not own: rates, minimums and limits of a corridor (quotes, processor/cycle/rules).
 */
import { HOUR } from '../base/clock.js'

interface Facts {
  readonly scheme: string
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  /** For the texts of the API. */
  readonly title: string
  /** ISO 4217, letters and digits of the same currency. */
  readonly currencyAlpha: string
  readonly currencyNumeric: string
  /** Decimals of the minor unit: satang are hundredths, the dong has none. */
  readonly exponent: number
  /** From UTC to its local time, which has no summer time. */
  readonly utcOffsetMs: number
}

const TABLE = {
  th_promptpay: {
    scheme: 'promptpay',
    country: 'TH',
    title: 'Thailand with PromptPay',
    currencyAlpha: 'THB',
    currencyNumeric: '764',
    exponent: 2,
    utcOffsetMs: 7 * HOUR,
  },
  vn_vietqr: {
    scheme: 'vietqr',
    country: 'VN',
    title: 'Vietnam with VietQR',
    currencyAlpha: 'VND',
    currencyNumeric: '704',
    exponent: 0,
    utcOffsetMs: 7 * HOUR,
  },
} as const satisfies Readonly<Record<string, Facts>>

export type Corridor = keyof typeof TABLE
/** The QR schemes. */
export type QrScheme = (typeof TABLE)[Corridor]['scheme']
/** ISO 4217, letters: the currencies of the corridors. */
export type CorridorCurrency = (typeof TABLE)[Corridor]['currencyAlpha']

export interface CorridorFacts extends Facts {
  readonly scheme: QrScheme
}

export const CORRIDORS: Readonly<Record<Corridor, CorridorFacts>> = TABLE

export const CORRIDOR_NAMES = Object.keys(TABLE) as readonly Corridor[]

/** Each scheme once. */
export const QR_SCHEMES: readonly QrScheme[] = [
  ...new Set(CORRIDOR_NAMES.map((name) => CORRIDORS[name].scheme)),
]

export function isCorridor(text: string): text is Corridor {
  return Object.hasOwn(CORRIDORS, text)
}
