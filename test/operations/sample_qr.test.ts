/** The sample codes equal those of independent generators. */
import t from 'tap'
import { promptPayCode, vietQrCode } from '../../src/operations/demo/sample_qr.js'
import { generatePromptPay, generateVietQr } from '../support/qr_generators.js'

t.equal(
  promptPayCode('0812345678'),
  generatePromptPay({
    method: 'QR_STATIC',
    application: 'PROMPTPAY_CREDIT_TRANSFER',
    mobileNumber: '0066812345678',
    currencyCode: '764',
    countryCode: 'TH',
  }),
)
t.equal(
  vietQrCode('970436', '1023456789', '180000'),
  generateVietQr({ bankBin: '970436', bankNumber: '1023456789', amount: '180000' }),
)
