/** Independent generators of merchant codes. Their types do not match their module format. */
import { createRequire } from 'node:module'

type Fields = Readonly<Record<string, string>>

const load = createRequire(import.meta.url)

export const { generate: generatePromptPay } = load('promptpay-js') as {
  generate(fields: Fields): string
}

const { QRPay } = load('vietnam-qr-pay') as {
  QRPay: { initVietQR(fields: Fields): { build(): string } }
}

export const generateVietQr = (fields: Fields): string => QRPay.initVietQR(fields).build()
