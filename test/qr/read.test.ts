/**
 * The reader's checks, their order and reasons. The choice of the payee is in destination.test.ts.
 */
import t from 'tap'
import { bindAmount } from '../../src/qr/read.js'
import {
  CREDIT_TRANSFER,
  field,
  fields,
  mobileTemplate,
  payload,
  sealed,
  thai,
  vietnamese,
  VIETQR,
  type Field,
} from './payloads.js'
import { check, NONE, readingOf, verdictOf } from './reading.js'

t.test('the text is checked first', async (t) => {
  const good = thai()
  check(t, 'th_promptpay', [
    ['a good code', good, 'ok'],
    ['nothing', '', 'payload_empty'],
    ['a line feed after it', `${good}\n`, 'payload_whitespace'],
    ['a line end after it', `${good}\r\n`, 'payload_whitespace'],
    ['a blank after it', `${good} `, 'payload_whitespace'],
    ['a blank before it', ` ${good}`, 'payload_whitespace'],
    ['a NUL after it', `${good}\0`, 'payload_whitespace'],
    ['a byte order mark before it', `\uFEFF${good}`, 'payload_whitespace'],
    ['only blanks', '   ', 'payload_whitespace'],
    ['a link', 'https://example.com/pay', 'payload_format_missing'],
    ['a barcode', '|099400016550100', 'payload_format_missing'],
    ['another object first', payload(['01', '11'], ['00', '01']), 'payload_format_missing'],
    ['a later format', thai(['00', '00']), 'payload_format_unsupported'],
    ['a later format', thai(['00', '02']), 'payload_format_unsupported'],
  ])
})

t.test('characters that could spoof a receipt are rejected', async (t) => {
  const bad = ['\t', '\n', '\x1b', '\x7f', '\x85', '\u202e', '\u2066', '\u200f', '\u061c', '\ufeff']
  for (const character of [...bad, '\u2028', '\u2029', '\ud83d', '\udc00']) {
    const name = `A${character}B`
    const label = character.charCodeAt(0).toString(16)
    t.equal(verdictOf(thai(['59', name])), 'payload_charset', label)
  }
  for (const name of ['ร้านกาแฟ', 'Qua\u0301n', 'CAFÉ 😀', '最佳', 'zero\u200bwidth']) {
    t.equal(readingOf(thai(['59', name])).merchant.name, name, 'as the merchant wrote it')
  }
})

t.test('a code has at most 4,096 code points', async (t) => {
  const padded = (last: string): string => {
    const padding: Field[] = []
    for (let tag = 65; tag <= 99; tag++) padding.push([String(tag), '😀'.repeat(99)])
    for (let tag = 2; tag <= 6; tag++) padding.push([`0${tag}`, '😀'.repeat(last.length)])
    return thai(...padding, ['61', last])
  }
  const units = (text: string): number => Array.from(text).length
  const lengths = Array.from({ length: 99 }, (_, n) => padded('z'.repeat(n + 1)))
  const short = lengths.filter((text) => units(text) <= 4_096)
  const long = lengths.filter((text) => units(text) > 4_096)
  t.ok(short.length > 0 && long.length > 0)
  for (const text of short) t.equal(verdictOf(text), 'ok', `${units(text)}`)
  for (const text of long) t.equal(verdictOf(text), 'payload_too_long', `${units(text)}`)
  t.equal(verdictOf('0'.repeat(1_000_000)), 'payload_too_long')
})

t.test('the checksum is present, correct, last and unique', async (t) => {
  const good = thai(['54', '20.15'])
  const body = good.slice(0, -8)
  const flipped = good.endsWith('0') ? '1' : '0'
  check(t, 'th_promptpay', [
    ['lower case', good.slice(0, -4) + good.slice(-4).toLowerCase(), 'ok'],
    ['none', body, 'checksum_missing'],
    ['wrong', good.slice(0, -1) + flipped, 'checksum_mismatch'],
    ['three digits', good.slice(0, -1), 'checksum_missing'],
    ['not hexadecimal', `${body}6304GGGG`, 'checksum_missing'],
    ['text after it', sealed(good + field('80', 'x')), 'tlv_duplicate_tag'],
    ['the end of a name', sealed(`${body}5908`), 'checksum_missing'],
    ['the end of a longer 63', sealed(`${body}6308`), 'checksum_missing'],
    [
      'a second one earlier',
      sealed(fields(['00', '01'], ['63', 'ABCD']) + '8008'),
      'checksum_missing',
    ],
    ['inner blanks removed', thai(['59', 'A B']).replace('A B', 'AB'), 'checksum_mismatch'],
  ])
})

t.test('objects are well formed in the root and in the templates read', async (t) => {
  const good = thai().slice(0, -8)
  const used = (text: string): string => thai(['29', text])
  const named = field('00', CREDIT_TRANSFER)
  check(t, 'th_promptpay', [
    ['length of zero', sealed(`${good}5900`), 'tlv_length_zero'],
    ['empty additional data', sealed(`${good}6200`), 'tlv_length_zero'],
    ['blank in a length', sealed(`${good}59 2AB`), 'tlv_malformed'],
    ['letter in an id', sealed(`${good}5A02AB`), 'tlv_malformed'],
    ['too long', sealed(`${good}5999AB`), 'tlv_truncated'],
    ['a length in bytes', sealed(`${good}5915สมชาย`), 'tlv_truncated'],
    [
      'twice the amount',
      sealed(good + fields(['54', '1.00'], ['54', '20.15'])),
      'tlv_duplicate_tag',
    ],
    ['twice the same', sealed(good + fields(['58', 'TH'])), 'tlv_duplicate_tag'],
    ['a used template overruns', used(`${named}01140066812345678`), 'tlv_truncated'],
    [
      'a used template repeats',
      used(`${named}${field('00', CREDIT_TRANSFER)}`),
      'tlv_duplicate_tag',
    ],
    ['a used template is odd', used(`${named}0x130066812345678`), 'tlv_malformed'],
    ['a used template is empty inside', used(`${named}0100`), 'tlv_length_zero'],
    [
      'additional data repeats',
      thai(['62', fields(['01', 'a'], ['01', 'b'])]),
      'tlv_duplicate_tag',
    ],
    ['additional data overruns', thai(['62', '0105a']), 'tlv_truncated'],
    ['language overruns', thai(['64', '0105a']), 'tlv_truncated'],
    ['language without a name', thai(['64', fields(['00', 'th'])]), 'language_name_missing'],
    [
      'language without a name, beside a name',
      thai(['59', 'SHOP'], ['64', fields(['00', 'th'], ['02', 'BANGKOK'])]),
      'language_name_missing',
    ],
    ['language with a name', thai(['64', fields(['00', 'th'], ['01', 'x'])]), 'ok'],
    ['80 to 99 hold anything', thai(['81', '0048'], ['87', 'CLASSIC'], ['99', '0000']), 'ok'],
    ['65 to 79 hold anything', thai(['70', 'abc']), 'ok'],
    ['02 to 25 hold anything', thai(['02', '4000123456789'], ['15', '5300']), 'ok'],
    ['other templates hold anything', thai(['26', '0010A0000'], ['51', 'xyz']), 'ok'],
  ])
  check(t, 'vn_vietqr', [
    [
      'bank and account overrun',
      vietnamese(['38', `${field('00', VIETQR)}01110006970416`]),
      'tlv_truncated',
    ],
    [
      'bank and account end early',
      vietnamese(['38', fields(['00', VIETQR], ['01', '0006970416010912345678'])]),
      'tlv_truncated',
    ],
    [
      'two accounts',
      vietnamese([
        '38',
        fields(['00', VIETQR], ['01', fields(['00', '970416'], ['01', '1'], ['01', '2'])]),
      ]),
      'tlv_duplicate_tag',
    ],
  ])
})

t.test('the code is static or dynamic', async (t) => {
  check(t, 'th_promptpay', [
    ['10', thai(['01', '10']), 'poi_invalid'],
    ['Bluetooth', thai(['01', '21']), 'poi_invalid'],
    ['one digit', thai(['01', '1']), 'poi_invalid'],
    ['dynamic without amount', thai(['01', '12']), 'dynamic_amount_missing'],
    ['dynamic', thai(['01', '12'], ['54', '1']), 'ok'],
    ['static with amount', thai(['54', '1']), 'ok'],
  ])
  t.equal(readingOf(thai(['54', '1'])).kind, 'static')
  t.equal(readingOf(thai(['01', '12'], ['54', '1'])).kind, 'dynamic')
  t.equal(readingOf(thai(['01', NONE])).kind, 'static')
  t.equal(readingOf(thai(['01', NONE], ['54', '1'])).kind, 'dynamic')
})

t.test('currency, country and category are checked', async (t) => {
  check(t, 'th_promptpay', [
    ['no currency', thai(['53', NONE]), 'currency_missing'],
    ['dollars', thai(['53', '840']), 'currency_mismatch'],
    ['letters', thai(['53', 'THB']), 'currency_mismatch'],
    ['dong', thai(['53', '704']), 'currency_mismatch'],
    ['no country', thai(['58', NONE]), 'country_missing'],
    ['another country', thai(['58', 'VN']), 'country_mismatch'],
    ['lower case', thai(['58', 'th']), 'country_mismatch'],
    ['three digits', thai(['52', '581']), 'mcc_invalid'],
    ['letters', thai(['52', '58AB']), 'mcc_invalid'],
    ['a category', thai(['52', '5812']), 'ok'],
  ])
})

t.test('tips and fees are rejected', async (t) => {
  check(t, 'th_promptpay', [
    ['a tip', thai(['55', '01']), 'ok'],
    ['a fixed fee', thai(['55', '02'], ['56', '10.00']), 'fee_unsupported'],
    ['a percentage', thai(['55', '03'], ['57', '05.00']), 'fee_unsupported'],
    ['a fixed fee without its indicator', thai(['55', '02']), 'fee_inconsistent'],
    ['a percentage without its indicator', thai(['55', '03']), 'fee_inconsistent'],
    ['a tip that is a fee', thai(['55', '01'], ['56', '10.00']), 'fee_inconsistent'],
    ['a fee without a word', thai(['56', '10.00']), 'fee_inconsistent'],
    ['a percentage without a word', thai(['57', '05.00']), 'fee_inconsistent'],
    ['both', thai(['55', '02'], ['56', '10.00'], ['57', '05.00']), 'fee_inconsistent'],
    ['unknown', thai(['55', '04']), 'fee_inconsistent'],
  ])
})

t.test('the amount follows the currency of the corridor', async (t) => {
  t.equal(readingOf(thai()).embeddedAmountMinor, null)
  t.equal(readingOf(thai(['54', '100.5'])).embeddedAmountMinor, 10_050n)
  t.equal(readingOf(vietnamese(['54', '50000']), 'vn_vietqr').embeddedAmountMinor, 50_000n)
  check(t, 'vn_vietqr', [['decimals', vietnamese(['54', '50000.00']), 'amount_decimals']])
  check(t, 'th_promptpay', [
    ['zero', thai(['54', '0.00']), 'amount_zero'],
    ['to be typed', thai(['54', '***']), 'amount_malformed'],
  ])
})

t.test("the merchant's optional texts", async (t) => {
  const { merchant } = readingOf(
    thai(['52', '5812'], ['59', 'A very long name of a merchant, beyond 25'], ['60', 'Bangkok']),
  )
  t.same(merchant, {
    scheme: 'promptpay',
    name: 'A very long name of a merchant, beyond 25',
    city: 'Bangkok',
    country: 'TH',
    mcc: '5812',
  })
  const language: Field = ['64', fields(['00', 'th'], ['01', 'ร้าน'], ['02', 'กรุงเทพ'])]
  t.equal(readingOf(thai(language)).merchant.name, 'ร้าน')
  t.equal(readingOf(thai(language)).merchant.city, '')
  t.equal(readingOf(thai(language, ['59', 'SHOP'])).merchant.name, 'SHOP')
  t.equal(readingOf(vietnamese(), 'vn_vietqr').merchant.scheme, 'vietqr')
})

t.test('the reason is the first fault in the order of the checks', async (t) => {
  // Each step repairs one fault of a code that has all of them.
  const faults: readonly Field[] = [
    ['00', '02'],
    ['01', '99'],
    ['29', fields(['00', CREDIT_TRANSFER], ['01', 'x'])],
    ['53', '840'],
    ['58', 'US'],
    ['52', 'x'],
    ['55', '09'],
    ['54', '0'],
    ['62', 'x'],
    ['64', 'x'],
  ]
  const healed: readonly Field[] = [
    ['00', '01'],
    ['01', '12'],
    mobileTemplate(),
    ['53', '764'],
    ['58', 'TH'],
    ['52', NONE],
    ['55', NONE],
    ['54', NONE],
    ['62', NONE],
    ['64', NONE],
  ]
  const sick = thai(...faults)
  const reasons = [
    verdictOf(''),
    verdictOf(` ${sick}\x01`),
    verdictOf(`${thai(...faults, ['59', '\x01'])}!`),
    verdictOf(`1${sick}!`),
    verdictOf(`${sick}!`),
    verdictOf(sick.replace('840', '841')),
    verdictOf(sealed(`${sick.slice(0, -8)}5900`)),
  ]
  for (let count = 0; count <= healed.length; count++) {
    reasons.push(verdictOf(thai(...faults, ...healed.slice(0, count))))
  }
  t.same(reasons, [
    'payload_empty',
    'payload_whitespace',
    'payload_charset',
    'payload_format_missing',
    'checksum_missing',
    'checksum_mismatch',
    'tlv_length_zero',
    'payload_format_unsupported',
    'poi_invalid',
    'destination_invalid',
    'currency_mismatch',
    'country_mismatch',
    'mcc_invalid',
    'fee_inconsistent',
    'amount_zero',
    'tlv_truncated',
    'tlv_truncated',
    'dynamic_amount_missing',
  ])
})

t.test('an amount in the code binds; without one the caller must state it', async (t) => {
  const open = readingOf(thai())
  t.same(bindAmount(open, null), { ok: false, reason: 'amount_required' })
  t.same(bindAmount(open, 500n), { ok: true, minor: 500n })
  const closed = [readingOf(thai(['54', '5.00'])), readingOf(thai(['01', '12'], ['54', '5']))]
  for (const reading of closed) {
    t.same(bindAmount(reading, null), { ok: true, minor: 500n })
    t.same(bindAmount(reading, 500n), { ok: true, minor: 500n })
    t.same(bindAmount(reading, 499n), { ok: false, reason: 'amount_mismatch' })
    t.same(bindAmount(reading, 5n), { ok: false, reason: 'amount_mismatch' })
  }
})
