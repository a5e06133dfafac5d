/** The checksum of codes, CRC-16/CCITT-FALSE. */
import fc from 'fast-check'
import t from 'tap'
import { crc16 } from '../../src/qr/crc.js'
import { slowCrc16 } from './payloads.js'

t.test('the checksum matches the check value of CRC-16/CCITT-FALSE', async (t) => {
  t.equal(crc16('123456789'), 0x29b1)
  t.equal(crc16(''), 0xffff)
})

t.test(
  'the checksum covers the UTF-8 bytes of any text, like a bitwise implementation',
  async (t) => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        return crc16(text) === slowCrc16(text)
      }),
    )
    t.not(crc16('สมชาย'), crc16('*!2"'), 'not the low bytes of UTF-16 units')
  },
)
