/**
 * QR codes as a shop shows them, made by other people's generators: what we read is not what we
 * wrote.
 *
 * Their own types do not fit the way they are loaded; these say as much as is used here.
 */
import { createRequire } from 'node:module'

interface PromptPayJs {
  generate(given: Readonly<Record<string, string>>): string
}
interface VietnamQrPay {
  readonly QRPay: {
    initVietQR(given: Readonly<Record<string, string>>): { build(): string }
  }
}

const load = createRequire(import.meta.url)

/** A printed PromptPay code of a mobile number: it names no amount. */
export function promptPayCode(mobile: string): string {
  const { generate } = load('promptpay-js') as PromptPayJs
  return generate({
    method: 'QR_STATIC',
    application: 'PROMPTPAY_CREDIT_TRANSFER',
    mobileNumber: `0066${mobile.slice(1)}`,
    currencyCode: '764',
    countryCode: 'TH',
  })
}

/** A VietQR code of a till, with the amount in it. */
export function vietQrCode(bankBin: string, account: string, dong: string): string {
  const { QRPay } = load('vietnam-qr-pay') as VietnamQrPay
  return QRPay.initVietQR({ bankBin, bankNumber: account, amount: dong }).build()
}
