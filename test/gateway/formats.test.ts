/**
 * The formats inside of bodies: times, 64-bit integers and addresses of webhook endpoints.
 */
import t from 'tap'
import { isDateTime, isInt64, isPositiveInt64, isWebhookUrl } from '../../gateway/decode/formats.js'

void t.test('formats', (t) => {
  const check = (valid: (text: string) => boolean, yes: string[], no: string[]): void => {
    for (const text of yes) t.equal(valid(text), true, text)
    for (const text of no) t.equal(valid(text), false, text)
  }
  check(
    isDateTime,
    ['2026-01-31T23:59:59Z', '2024-02-29T00:00:00.1+00:00', '2026-11-21T04:35:40.123456789-23:59'],
    [
      '',
      '2026-02-29T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-01-01T24:00:00Z',
      '2026-01-01T00:60:00Z',
      '2026-01-01T00:00:60Z',
      '2026-01-01 00:00:00Z',
      '2026-01-01T00:00:00',
      '2026-01-01T00:00:00+24:00',
      '2026-01-01T00:00:00+07',
      '2026-01-01T00:00:00.Z',
      '2026-01-01T00:00:00ZZ',
      '2026-01-01T00:00:00+00:00Z',
      ' 2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00Z\n',
    ],
  )
  check(
    isInt64,
    ['0', '1', '-1', '9223372036854775807', '-9223372036854775808'],
    [
      '',
      '-0',
      '00',
      '+1',
      ' 1',
      '1 ',
      '1.0',
      '1e1',
      '0x1',
      '9223372036854775808',
      '-9223372036854775809',
    ],
  )
  check(isPositiveInt64, ['1'], ['0', '-1', 'x'])
  check(
    isWebhookUrl,
    ['https://a.example', 'http://127.0.0.1:9000/hook?a=b', 'https://a.example/%20'],
    [
      '',
      'a.example',
      'https://',
      'https://a.example/#top',
      'https://a.example/#',
      'https://a@b.example',
      'javascript:1',
      'https://a.example/ x',
      'https://é.example',
    ],
  )
  t.end()
})
