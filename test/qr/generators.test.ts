/** Codes made by public generator libraries that issuers use are read correctly. */
import { createRequire } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { readQr, type QrReading } from '../../src/qr/read.js'
import { digits, readingOf } from './reading.js'

// The libraries' types do not fit the way they are loaded; these cover the functions used here.
interface PromptParse {
  readonly generate: {
    anyId(given: { type: string; target: string; amount?: number }): string
    billPayment(given: {
      billerId: string
      ref1: string
      ref2?: string
      ref3?: string
      amount?: number
    }): string
  }
}
type PromptPayQr = (target: string, options: { amount?: number }) => string
interface PromptPayJs {
  generate(given: Readonly<Record<string, unknown>>): string
}
interface VietnamQrPay {
  readonly QRPay: {
    new (content: string): {
      readonly isValid: boolean
      readonly consumer: { readonly bankBin?: string; readonly bankNumber?: string }
      readonly amount?: string
    }
    initVietQR(given: Readonly<Record<string, string>>): { build(): string }
  }
}

const load = createRequire(import.meta.url)
const promptparse = load('promptparse') as PromptParse
const promptPayQr = load('promptpay-qr') as PromptPayQr
const promptPayJs = load('promptpay-js') as PromptPayJs
const { QRPay } = load('vietnam-qr-pay') as VietnamQrPay

const mobile = digits(8).map((tail) => `08${tail}`)
const satang = fc.option(fc.integer({ min: 1, max: 70_000_000 }), { nil: undefined })
const reference = fc.stringMatching(/^[0-9A-Z]{1,20}$/)
const name = fc.stringMatching(/^[ -~]{1,25}$/)

const satangOf = (reading: QrReading): number | undefined =>
  reading.embeddedAmountMinor === null ? undefined : Number(reading.embeddedAmountMinor)

const international = (national: string): string => `0066${national.slice(1)}`

/** The generators take baht as a number and write two decimals. */
const baht = (amount: number | undefined): { amount?: number } =>
  amount === undefined ? {} : { amount: amount / 100 }

t.test('reads mobile numbers, ids and wallets by promptpay-qr', async () => {
  const target = fc.oneof(
    mobile.map((given) => ({ given, accountType: 'mobile', account: international(given) })),
    digits(13).map((given) => ({ given, accountType: 'national_id', account: given })),
    digits(15).map((given) => ({ given, accountType: 'ewallet', account: given })),
  )
  fc.assert(
    fc.property(target, satang, ({ given, accountType, account }, amount) => {
      const reading = readingOf(promptPayQr(given, baht(amount)))
      const { destination } = reading
      return (
        destination.accountType === accountType &&
        destination.account === account &&
        satangOf(reading) === amount &&
        reading.kind === (amount === undefined ? 'static' : 'dynamic')
      )
    }),
  )
})

t.test('reads the four proxies and bills by promptparse', async () => {
  const proxy = fc.oneof(
    mobile.map((target) => ({ type: 'MSISDN', target, read: international(target) })),
    digits(13).map((target) => ({ type: 'NATID', target, read: target })),
    digits(15).map((target) => ({ type: 'EWALLETID', target, read: target })),
    digits(4, 20).map((target) => ({ type: 'BANKACC', target, read: target })),
  )
  fc.assert(
    fc.property(proxy, satang, ({ type, target, read }, amount) => {
      const reading = readingOf(promptparse.generate.anyId({ type, target, ...baht(amount) }))
      const { bankCode, account } = reading.destination
      return bankCode + account === read && satangOf(reading) === amount
    }),
  )

  const optional = fc.option(reference, { nil: undefined })
  fc.assert(
    fc.property(
      digits(15),
      reference,
      optional,
      optional,
      satang,
      (billerId, ref1, ref2, ref3, amount) => {
        const reading = readingOf(
          promptparse.generate.billPayment({
            billerId,
            ref1,
            ...(ref2 === undefined ? {} : { ref2 }),
            ...(ref3 === undefined ? {} : { ref3 }),
            ...baht(amount),
          }),
        )
        const { account, reference1, reference2 } = reading.destination
        return (
          account === billerId &&
          reference1 === ref1 &&
          reference2 === (ref2 ?? '') &&
          satangOf(reading) === amount
        )
      },
    ),
  )
})

t.test('reads names, categories and additional data by promptpay-js', async (t) => {
  fc.assert(
    fc.property(
      digits(15),
      reference,
      fc.integer({ min: 1, max: 70_000_000 }),
      digits(4),
      name,
      fc.stringMatching(/^[ -~]{1,15}$/),
      (billerID, reference1, amount, mcc, merchantName, merchantCity) => {
        const reading = readingOf(
          promptPayJs.generate({
            method: 'QR_DYNAMIC',
            application: 'PROMPTPAY_BILL_PAYMENT',
            billerID,
            reference1,
            currencyCode: '764',
            countryCode: 'TH',
            amount: (amount / 100).toFixed(2),
            mcc,
            merchantName,
            merchantCity,
            additional: { terminalID: 'T1' },
          }),
        )
        const { merchant, destination } = reading
        return (
          destination.account === billerID &&
          destination.reference1 === reference1 &&
          satangOf(reading) === amount &&
          merchant.mcc === mcc &&
          merchant.name === merchantName &&
          merchant.city === merchantCity
        )
      },
    ),
  )

  const refused = { method: 'QR_STATIC', currencyCode: '764', countryCode: 'TH', reference1: 'R' }
  for (const given of [
    {
      application: 'PROMPTPAY_CREDIT_TRANSFER_WITH_OTA',
      mobileNumber: '0066812345678',
      ota: '1234567890',
    },
    { application: 'PROMPTPAY_BILL_PAYMENT_CROSS_BORDER', billerID: '099400016550100' },
  ]) {
    const text = promptPayJs.generate({ ...refused, ...given })
    t.same(readQr(text, 'th_promptpay'), { ok: false, reason: 'scheme_unsupported' })
  }
})

t.test(
  'reads accounts and cards by vietnam-qr-pay, which reads the codes of the tests',
  async () => {
    const given = fc.oneof(
      fc.tuple(fc.constant('QRIBFTTA'), fc.stringMatching(/^[0-9A-Za-z]{1,19}$/)),
      fc.tuple(fc.constant('QRIBFTTC'), digits(16, 19)),
    )
    fc.assert(
      fc.property(
        digits(6),
        given,
        fc.option(fc.integer({ min: 1, max: 499_999_999 }), { nil: undefined }),
        name,
        (bankBin, [service, bankNumber], amount, purpose) => {
          const text = QRPay.initVietQR({
            bankBin,
            bankNumber,
            service,
            purpose,
            ...(amount === undefined ? {} : { amount: String(amount) }),
          }).build()
          const { destination, embeddedAmountMinor } = readingOf(text, 'vn_vietqr')
          const theirs = new QRPay(text)
          return (
            theirs.isValid &&
            destination.bankCode === bankBin &&
            destination.bankCode === theirs.consumer.bankBin &&
            destination.account === bankNumber &&
            destination.account === theirs.consumer.bankNumber &&
            destination.accountType === (service === 'QRIBFTTC' ? 'card' : 'account') &&
            destination.reference2 === (purpose === '***' ? '' : purpose) &&
            embeddedAmountMinor === (amount === undefined ? null : BigInt(amount)) &&
            theirs.amount === embeddedAmountMinor?.toString()
          )
        },
      ),
    )
  },
)
