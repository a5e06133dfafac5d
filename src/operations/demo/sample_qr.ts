/** Sample merchant QR codes (EMVCo merchant-presented mode) for the demo and the load tool. */
import { crc16 } from '../../qr/crc.js'

type Fields = readonly (readonly [tag: string, value: string])[]

const tlv = (fields: Fields): string =>
  fields.map(([tag, value]) => `${tag}${String(value.length).padStart(2, '0')}${value}`).join('')

/** Appends the CRC (tag 63), which covers its own tag and length. */
function payload(fields: Fields): string {
  const covered = `${tlv(fields)}6304`
  return covered + crc16(covered).toString(16).toUpperCase().padStart(4, '0')
}

/** A static PromptPay code of a mobile number, without an amount. */
export const promptPayCode = (mobile: string): string =>
  payload([
    ['00', '01'],
    ['01', '11'],
    [
      '29',
      tlv([
        ['00', 'A000000677010111'],
        ['01', `0066${mobile.slice(1)}`],
      ]),
    ],
    ['53', '764'],
    ['58', 'TH'],
  ])

/** A dynamic VietQR code of an account, with the amount. */
export const vietQrCode = (bankBin: string, account: string, dong: string): string =>
  payload([
    ['00', '01'],
    ['01', '12'],
    [
      '38',
      tlv([
        ['00', 'A000000727'],
        [
          '01',
          tlv([
            ['00', bankBin],
            ['01', account],
          ]),
        ],
        ['02', 'QRIBFTTA'],
      ]),
    ],
    ['53', '704'],
    ['54', dong],
    ['58', 'VN'],
  ])
