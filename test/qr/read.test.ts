/**
 * The reader's rules, one by one: what it accepts, which reason it gives, and in which order.
 */
import t, { type Test } from 'tap'
import { bindAmount, readQr, type QrReading } from '../../src/qr/read.js'
import type { Corridor } from '../../src/qr/corridor.js'
import {
  BILL_PAYMENT,
  billTemplate,
  CREDIT_TRANSFER,
  field,
  fields,
  mobileTemplate,
  payload,
  sealed,
  thai,
  vietnamese,
  vietTemplate,
  VIETQR,
  type Field,
} from './payloads.js'

const NONE = ''
const verdictOf = (text: string, corridor: Corridor = 'th_promptpay'): string => {
  const outcome = readQr(text, corridor)
  return outcome.ok ? 'ok' : outcome.reason
}

function readingOf(text: string, corridor: Corridor = 'th_promptpay'): QrReading {
  const outcome = readQr(text, corridor)
  if (!outcome.ok) throw new Error(outcome.reason)
  return outcome.reading
}

type Row = readonly [what: string, text: string, verdict: string]
const check = (t: Test, corridor: Corridor, rows: readonly Row[]): void => {
  for (const [what, text, verdict] of rows) t.equal(verdictOf(text, corridor), verdict, what)
}

t.test('the text before anything else', async (t) => {
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

t.test('characters that could spoof a receipt', async (t) => {
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

t.test('at most 4,096 code points', async (t) => {
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

t.test('the checksum is there, right, last and alone', async (t) => {
  const good = thai(['54', '20.15'])
  const body = good.slice(0, -8)
  const flipped = good.endsWith('0') ? '1' : '0'
  check(t, 'th_promptpay', [
    ['lower case', good.slice(0, -4) + good.slice(-4).toLowerCase(), 'ok'],
    ['none', body, 'checksum_missing'],
    ['wrong', good.slice(0, -1) + flipped, 'checksum_mismatch'],
    ['three digits', good.slice(0, -1), 'checksum_missing'],
    ['not hexadecimal', `${body}6304GGGG`, 'checksum_missing'],
    ['something after it', sealed(good + field('80', 'x')), 'tlv_duplicate_tag'],
    ['the end of a name', sealed(`${body}5908`), 'checksum_missing'],
    ['the end of a longer 63', sealed(`${body}6308`), 'checksum_missing'],
    ['an early one too', sealed(fields(['00', '01'], ['63', 'ABCD']) + '8008'), 'checksum_missing'],
    ['inner blanks lost', thai(['59', 'A B']).replace('A B', 'AB'), 'checksum_mismatch'],
  ])
})

t.test('objects are well formed, in the root and in the templates that are used', async (t) => {
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

t.test('static or dynamic', async (t) => {
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

t.test('which template is read', async (t) => {
  const without29: Field = ['29', NONE]
  const other: Field = ['31', fields(['00', 'A000000677010113'], ['01', '004'])]
  const thaiBill = fields(['00', BILL_PAYMENT], ['01', '099400016550100'], ['02', 'R'])
  const template = (...list: readonly Field[]): Field => ['29', fields(...list)]
  check(t, 'th_promptpay', [
    ['none at all', thai(without29), 'scheme_missing'],
    ['none at all, but RFU', thai(without29, ['70', 'abc']), 'scheme_missing'],
    ['none at all, but a category', thai(without29, ['52', '5812']), 'scheme_missing'],
    ['only a card scheme', thai(without29, ['04', '5300001234567']), 'scheme_unsupported'],
    ['only an acquirer', thai(without29, other), 'scheme_unsupported'],
    ['an acquirer beside', thai(without29, billTemplate(undefined, ['02', 'R1']), other), 'ok'],
    ['transfer and bill', thai(billTemplate(undefined, ['02', 'R1'])), 'destination_ambiguous'],
    [
      'transfer and bill of the wrong tag',
      thai(['30', fields(['00', CREDIT_TRANSFER], ['01', '0066899999999'])]),
      'destination_ambiguous',
    ],
    [
      'shown by the payer, and a bill',
      thai(template(['00', 'A000000677010114']), ['30', thaiBill]),
      'destination_ambiguous',
    ],
    [
      'transfer, and a bill across borders',
      thai(['30', field('00', 'A000000677012006')]),
      'destination_ambiguous',
    ],
    [
      'lower case id',
      thai(template(['00', 'a000000677010111'], ['01', '0066812345678'])),
      'scheme_unsupported',
    ],
    [
      'bill id in tag 29',
      thai(template(['00', BILL_PAYMENT], ['01', '0066812345678'])),
      'scheme_unsupported',
    ],
    [
      'shown by the payer',
      thai(template(['00', 'A000000677010114'], ['01', '0066812345678'])),
      'scheme_unsupported',
    ],
    [
      'a bill across borders',
      thai(without29, [
        '30',
        fields(['00', 'A000000677012006'], ['01', '099400016550100'], ['02', 'R']),
      ]),
      'scheme_unsupported',
    ],
    ['id not first', thai(template(['01', '0066812345678'], ['00', CREDIT_TRANSFER])), 'ok'],
    ['VietQR', vietnamese(), 'scheme_mismatch'],
    ['VietQR beside', thai(vietTemplate('970416', '1')), 'ok'],
    [
      'VietQR beside an acquirer',
      thai(without29, other, vietTemplate('970416', '1')),
      'scheme_unsupported',
    ],
  ])
  check(t, 'vn_vietqr', [
    ['PromptPay', thai(), 'scheme_mismatch'],
    ['PromptPay, not payable', thai(without29, other), 'scheme_mismatch'],
    [
      'tag 39',
      vietnamese(['38', NONE], ['39', vietTemplate('970416', '1')[1]]),
      'scheme_unsupported',
    ],
    [
      'VNPAY',
      vietnamese(['38', NONE], ['26', fields(['00', 'A000000775'], ['01', '1'])]),
      'scheme_unsupported',
    ],
    ['PromptPay in tag 26', vietnamese(['38', NONE], ['26', thaiBill]), 'scheme_mismatch'],
    ['PromptPay in tag 51', vietnamese(['38', NONE], ['51', thaiBill]), 'scheme_mismatch'],
    ['PromptPay in tag 52', vietnamese(['38', NONE], ['52', thaiBill]), 'scheme_missing'],
    ...['A000000677010114', 'A000000677012004', 'A000000677012006'].map((id): Row => {
      return ['PromptPay, not payable', thai(['29', field('00', id)]), 'scheme_mismatch']
    }),
    ['VNPAY beside', vietnamese(['26', fields(['00', 'A000000775'], ['01', '1'])]), 'ok'],
  ])
})

t.test('PromptPay destinations', async (t) => {
  const proxy = (...list: readonly Field[]): string =>
    thai(['29', fields(['00', CREDIT_TRANSFER], ...list)])
  const bill = (...list: readonly Field[]): string =>
    thai(['29', NONE], ['30', fields(['00', BILL_PAYMENT], ...list)])
  const biller: Field = ['01', '099400016550100']
  check(t, 'th_promptpay', [
    ['no proxy', proxy(), 'destination_invalid'],
    [
      'two proxies',
      proxy(['01', '0066812345678'], ['02', '1234567890123']),
      'destination_ambiguous',
    ],
    ['local mobile', proxy(['01', '0812345678']), 'destination_invalid'],
    ['another country', proxy(['01', '0084812345678']), 'destination_invalid'],
    ['12 digits', proxy(['01', '006681234567']), 'destination_invalid'],
    ['id of 12', proxy(['02', '123456789012']), 'destination_invalid'],
    ['wallet of 14', proxy(['03', '12345678901234']), 'destination_invalid'],
    ['bank without account', proxy(['04', '014']), 'destination_invalid'],
    ['bank account of 44', proxy(['04', '1'.repeat(44)]), 'destination_invalid'],
    ['bank account of 43', proxy(['04', '1'.repeat(43)]), 'ok'],
    ['letters', proxy(['03', '14000080111111A']), 'destination_invalid'],
    ['Thai digits', proxy(['02', '๑๒๓๔๕๖๗๘๙๐๑๒๓']), 'destination_invalid'],
    ['biller of 13', bill(['01', '0112233445566'], ['02', 'R1']), 'destination_invalid'],
    ['no biller', bill(['02', 'R1']), 'destination_invalid'],
    ['no reference', bill(biller), 'destination_invalid'],
    ['reference of 20', bill(biller, ['02', 'R'.repeat(20)]), 'ok'],
    ['reference of 21', bill(biller, ['02', 'R'.repeat(21)]), 'destination_invalid'],
    [
      'second reference of 21',
      bill(biller, ['02', 'R'], ['03', 'R'.repeat(21)]),
      'destination_invalid',
    ],
    ['Thai reference', bill(biller, ['02', 'ก']), 'destination_invalid'],
  ])

  t.same(readingOf(proxy(['04', '0141234567890'])).destination, {
    scheme: 'promptpay',
    accountType: 'bank_account',
    bankCode: '014',
    account: '1234567890',
    reference1: '',
    reference2: '',
  })
  t.same(readingOf(bill(biller, ['02', 'R 1'], ['03', 'r/2'])).destination, {
    scheme: 'promptpay',
    accountType: 'biller',
    bankCode: '',
    account: '099400016550100',
    reference1: 'R 1',
    reference2: 'r/2',
  })
})

t.test('VietQR destinations', async (t) => {
  const to = (bank: string, account: string, service?: string): string =>
    vietnamese(vietTemplate(bank, account, service))
  check(t, 'vn_vietqr', [
    ['a bank beyond 970', to('546034', '1', 'QRIBFTTA'), 'ok'],
    ['bank of 5', to('97041', '1', 'QRIBFTTA'), 'destination_invalid'],
    ['bank of letters', to('97041A', '1', 'QRIBFTTA'), 'destination_invalid'],
    ['account of 19', to('970416', '1'.repeat(19), 'QRIBFTTA'), 'ok'],
    ['account of 20', to('970416', '1'.repeat(20), 'QRIBFTTA'), 'destination_invalid'],
    ['account with a blank', to('970416', '12 34', 'QRIBFTTA'), 'destination_invalid'],
    ['account with an accent', to('970416', 'QUÁN', 'QRIBFTTA'), 'destination_invalid'],
    ['card of 15', to('970416', '1'.repeat(15), 'QRIBFTTC'), 'destination_invalid'],
    ['card of 16', to('970416', '1'.repeat(16), 'QRIBFTTC'), 'ok'],
    ['card of letters', to('970416', 'A'.repeat(16), 'QRIBFTTC'), 'destination_invalid'],
    ['cash', to('970416', '1', 'QRCASH'), 'service_unsupported'],
    ['unknown service', to('970416', '1', 'QRIBFTTX'), 'service_unsupported'],
    ['service in lower case', to('970416', '1', 'qribftta'), 'service_unsupported'],
    [
      'nobody',
      vietnamese(['38', fields(['00', VIETQR], ['02', 'QRIBFTTA'])]),
      'destination_invalid',
    ],
  ])

  const types = [undefined, 'QRPUSH', 'QRIBFTTA', 'QRIBFTTC'].map(
    (service) => readingOf(to('970416', '9704031101234567', service), 'vn_vietqr').destination,
  )
  t.same(
    types.map(({ accountType }) => accountType),
    ['merchant', 'merchant', 'account', 'card'],
  )
  t.same(types[2], {
    scheme: 'vietqr',
    accountType: 'account',
    bankCode: '970416',
    account: '9704031101234567',
    reference1: '',
    reference2: '',
  })
})

t.test('VietQR references', async (t) => {
  const references = (...list: readonly Field[]): readonly string[] => {
    const { destination } = readingOf(vietnamese(['62', fields(...list)]), 'vn_vietqr')
    return [destination.reference1, destination.reference2]
  }
  t.same(references(['01', 'BILL'], ['05', 'LABEL'], ['08', 'thanh toán']), ['BILL', 'thanh toán'])
  t.same(references(['05', 'LABEL']), ['LABEL', ''])
  t.same(references(['01', '***'], ['05', 'LABEL'], ['08', '***']), ['LABEL', ''], 'to be typed')
  t.same(references(['03', 'STORE']), ['', ''])
})

t.test('currency, country and category', async (t) => {
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

t.test('tips and fees', async (t) => {
  check(t, 'th_promptpay', [
    ['a tip', thai(['55', '01']), 'ok'],
    ['a fixed fee', thai(['55', '02'], ['56', '10.00']), 'fee_unsupported'],
    ['a percentage', thai(['55', '03'], ['57', '05.00']), 'fee_unsupported'],
    ['a fixed fee unsaid', thai(['55', '02']), 'fee_inconsistent'],
    ['a percentage unsaid', thai(['55', '03']), 'fee_inconsistent'],
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

t.test('the merchant, as far as the code names him', async (t) => {
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

t.test('the first fault in the order of the checks is the reason', async (t) => {
  // Each step heals one fault of a code that has them all.
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

t.test('the amount in the code binds the caller, its absence asks him', async (t) => {
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

t.test('the key of a duplicate is the payee and the references', async (t) => {
  const key = (text: string, corridor: Corridor = 'th_promptpay'): string =>
    readingOf(text, corridor).duplicateKey
  const good = thai()
  const same = [
    good.slice(0, -4) + good.slice(-4).toLowerCase(),
    payload(['00', '01'], ['58', 'TH'], ['53', '764'], mobileTemplate()),
    thai(['54', '7']),
    thai(['59', 'SHOP'], ['52', '5812']),
  ]
  for (const text of same) t.equal(key(text), key(good))

  const bill = (...references: readonly Field[]): string =>
    thai(['29', NONE], billTemplate(undefined, ...references))
  const others = [
    key(good),
    key(thai(mobileTemplate('0066812345679'))),
    key(thai(['29', fields(['00', CREDIT_TRANSFER], ['02', '0066812345678'])])),
    key(bill(['02', 'A'])),
    key(bill(['02', 'A'], ['03', 'B'])),
    key(bill(['02', 'A","B'])),
    key(bill(['02', 'AB'])),
    key(vietnamese(vietTemplate('970416', '1')), 'vn_vietqr'),
    key(vietnamese(vietTemplate('970415', '1')), 'vn_vietqr'),
    key(vietnamese(vietTemplate('970415', '1', 'QRIBFTTA')), 'vn_vietqr'),
    key(vietnamese(vietTemplate('970415', '1'), ['62', field('01', 'A')]), 'vn_vietqr'),
    key(vietnamese(vietTemplate('970415', '1'), ['62', field('08', 'A')]), 'vn_vietqr'),
  ]
  t.equal(new Set(others).size, others.length)
})
