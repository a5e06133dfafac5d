/** The sample codes equal those of independent generators. */
import { createRequire } from 'node:module'
import t from 'tap'
import { promptPayCode, vietQrCode } from '../../src/operations/sample_qr.js'

const load = createRequire(import.meta.url)
const { generate } = load('promptpay-js') as {
  generate(fields: Readonly<Record<string, string>>): string
}
const { QRPay } = load('vietnam-qr-pay') as {
  QRPay: { initVietQR(fields: Readonly<Record<string, string>>): { build(): string } }
}

t.equal(
  promptPayCode('0812345678'),
  generate({
    method: 'QR_STATIC',
    application: 'PROMPTPAY_CREDIT_TRANSFER',
    mobileNumber: '0066812345678',
    currencyCode: '764',
    countryCode: 'TH',
  }),
)
t.equal(
  vietQrCode('970436', '1023456789', '180000'),
  QRPay.initVietQR({ bankBin: '970436', bankNumber: '1023456789', amount: '180000' }).build(),
)
