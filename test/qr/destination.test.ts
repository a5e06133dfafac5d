/**
 * The payee of a code: which template is read, what each scheme accepts in it, and when two codes
 * are duplicates.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { QR_SCHEMES, type Corridor } from '../../src/qr/corridor.js'
import {
  BILL_PAYMENT,
  billTemplate,
  CREDIT_TRANSFER,
  field,
  fields,
  mobileTemplate,
  payload,
  thai,
  vietnamese,
  vietTemplate,
  VIETQR,
  type Field,
} from './payloads.js'
import { check, NONE, readingOf, type Row } from './reading.js'

t.test('one template of the corridor is read', async (t) => {
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
    ['with an acquirer', thai(without29, billTemplate(undefined, ['02', 'R1']), other), 'ok'],
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
    ['with VietQR', thai(vietTemplate('970416', '1')), 'ok'],
    [
      'with VietQR and an acquirer',
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
    ['with VNPAY', vietnamese(['26', fields(['00', 'A000000775'], ['01', '1'])]), 'ok'],
  ])
})

t.test('PromptPay destinations are read or rejected', async (t) => {
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

t.test('VietQR destinations are read or rejected', async (t) => {
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

t.test('VietQR references are read', async (t) => {
  const references = (...list: readonly Field[]): readonly string[] => {
    const { destination } = readingOf(vietnamese(['62', fields(...list)]), 'vn_vietqr')
    return [destination.reference1, destination.reference2]
  }
  t.same(references(['01', 'BILL'], ['05', 'LABEL'], ['08', 'thanh toán']), ['BILL', 'thanh toán'])
  t.same(references(['05', 'LABEL']), ['LABEL', ''])
  t.same(references(['01', '***'], ['05', 'LABEL'], ['08', '***']), ['LABEL', ''], 'to be typed')
  t.same(references(['03', 'STORE']), ['', ''])
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

t.test('rail.proto, by which adapters are written, names every scheme', async (t) => {
  const contract = readFileSync(join(projectRoot(), 'protos/rail.proto'), 'utf8')
  const [, list = ''] = /string scheme = 1; \/\/ (.*)/.exec(contract) ?? []
  t.same(
    list.split(' | '),
    ['bank_account', ...QR_SCHEMES].map((scheme) => `"${scheme}"`),
  )
  const [, kinds = ''] = /string account_type = 5; \/\/ (.*)/.exec(contract) ?? []
  t.same(
    kinds.split('; ').map((kind) => kind.split(':', 1).join()),
    QR_SCHEMES,
  )
})
