/**
 * Merchants' codes for the model's scans, written by independent generators, with expected readings
 * written by hand.
 */
import { generatePromptPay } from '../support/qr_generators.js'
import { promptPayQr, vietQr, vietQrWith } from '../support/requests.js'
import type { CorridorName } from './contract_rules.js'

export interface MerchantCode {
  readonly payload: string
  readonly corridor: CorridorName
  readonly kind: 'static' | 'dynamic'
  /** Minor units; null when the payer chooses. */
  readonly amount: bigint | null
  readonly merchant: { readonly name: string; readonly city: string; readonly mcc: string }
  readonly accountType: string
  readonly bankCode: string
  readonly account: string
  readonly references: readonly [string, string]
  readonly masked: string
}

const NAMELESS = { name: '', city: '', mcc: '' }

const toMobile = (account: string): Omit<MerchantCode, 'payload' | 'kind' | 'amount'> => ({
  corridor: 'th_promptpay',
  merchant: NAMELESS,
  accountType: 'mobile',
  bankCode: '',
  account,
  references: ['', ''],
  masked: `****${account.slice(-4)}`,
})

const toViet: Omit<MerchantCode, 'payload' | 'kind' | 'amount'> = {
  corridor: 'vn_vietqr',
  merchant: NAMELESS,
  accountType: 'account',
  bankCode: '970416',
  account: '257678859',
  references: ['', ''],
  masked: '****8859',
}

export const MERCHANT_CODES = {
  thaiStatic: {
    ...toMobile('0066812345678'),
    payload: promptPayQr('0066812345678'),
    kind: 'static',
    amount: null,
  },
  thaiOther: {
    ...toMobile('0066899999999'),
    payload: promptPayQr('0066899999999'),
    kind: 'static',
    amount: null,
  },
  /** Same payee as `thaiStatic`. */
  thaiDynamic: {
    ...toMobile('0066812345678'),
    payload: promptPayQr('0066812345678', { method: 'QR_DYNAMIC', amount: '360.00' }),
    kind: 'dynamic',
    amount: 36_000n,
  },
  thaiBill: {
    corridor: 'th_promptpay',
    payload: generatePromptPay({
      method: 'QR_STATIC',
      application: 'PROMPTPAY_BILL_PAYMENT',
      billerID: '099400016550100',
      reference1: 'REF1',
      reference2: 'REF2',
      currencyCode: '764',
      countryCode: 'TH',
      mcc: '5411',
      merchantName: 'SHOP',
      merchantCity: 'BANGKOK',
    }),
    kind: 'static',
    amount: null,
    merchant: { name: 'SHOP', city: 'BANGKOK', mcc: '5411' },
    accountType: 'biller',
    bankCode: '',
    account: '099400016550100',
    references: ['REF1', 'REF2'],
    masked: '****0100',
  },
  vietStatic: { ...toViet, payload: vietQrWith({}), kind: 'static', amount: null },
  /** Same payee as `vietStatic`. */
  vietDynamic: {
    ...toViet,
    payload: vietQrWith({ amount: '100000' }),
    kind: 'dynamic',
    amount: 100_000n,
  },
  /** Another purpose is another payment. */
  vietPurpose: {
    ...toViet,
    payload: vietQr('100000'),
    kind: 'dynamic',
    amount: 100_000n,
    references: ['', 'Cam on'],
  },
} as const satisfies Record<string, MerchantCode>

/** Codes that no corridor accepts, with the error code of each. */
export const BAD_CODES: Readonly<Record<string, string>> = {
  '': 'qr_malformed',
  'https://example.com/pay': 'qr_malformed',
  [`${MERCHANT_CODES.thaiStatic.payload}\n`]: 'qr_malformed',
  [MERCHANT_CODES.thaiStatic.payload.replace('812345678', '812345679')]: 'qr_checksum_invalid',
  [vietQrWith({ service: 'QRCASH' })]: 'qr_scheme_unsupported',
}

/** A code of one corridor, scanned in the other. */
export const WRONG_CORRIDOR = 'qr_scheme_unsupported'

export const samePayee = (one: MerchantCode, other: MerchantCode): boolean =>
  one.corridor === other.corridor &&
  one.account === other.account &&
  one.references.join('\n') === other.references.join('\n')
