/** Each message as text and back, what a reason code means, and what is refused. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { projectRoot } from '../../../src/base/project_root.js'
import { MESSAGE_BOUNDS, readMessage, writeMessage } from '../../../src/rails/iso20022/codec.js'
import { saidIn, type Answered } from '../../../src/rails/iso20022/outcome.js'
import {
  creditTransfer,
  statusRequest,
  uetrOf,
} from '../../../src/rails/iso20022/payment_messages.js'
import { findProgram } from '../../../src/supervisor/environment.js'
import type { Message } from '../../../src/rails/iso20022/messages.js'
import {
  AT,
  PAYOUT,
  PROXY_TRANSFER,
  resolution,
  SAMPLES,
  statusReport,
  TRANSFER,
  US,
} from './samples.js'

const golden = join(projectRoot(), 'test/rails/iso20022/golden')
/** An element a line, for readers. */
const readable = (bytes: Uint8Array): string =>
  `${Buffer.from(bytes).toString().replaceAll(/></g, '>\n<')}\n`
const texts = {
  ...SAMPLES,
  'pacs.008.001.09.proxy': creditTransfer(PROXY_TRANSFER, AT, US),
}

for (const [name, message] of Object.entries(texts)) {
  t.test(`${name} is written as its golden text and read again`, async (t) => {
    const file = join(golden, `${name}.xml`)
    const bytes = writeMessage(message)
    t.equal(readable(bytes), readFileSync(file, 'utf8'))
    t.same(readMessage(bytes, MESSAGE_BOUNDS), message)
    t.same(readMessage(readFileSync(file), MESSAGE_BOUNDS), message, 'with blanks between elements')
  })
}

const xmllint = findProgram('xmllint', process.env['PATH'] ?? '')
t.test('the golden texts are well-formed', { skip: xmllint === undefined }, async (t) => {
  const files = Object.keys(texts).map((name) => join(golden, `${name}.xml`))
  const { status, stderr } = spawnSync(xmllint ?? '', ['--noout', ...files], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
})

t.test('a repeated transfer has the same bytes, and a UETR of its form', async (t) => {
  const write = (): Buffer => writeMessage(creditTransfer({ ...TRANSFER }, AT, US))
  t.same(write(), write())
  t.match(uetrOf(PAYOUT), /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/)
  t.not(uetrOf(PAYOUT), uetrOf(PROXY_TRANSFER.id))
})

const outcome = (message: Message, answered: Answered = 'submit'): object | undefined =>
  saidIn(message, answered)[0]?.outcome

/** Each code of a rejection, with the refusal that it is. */
const REFUSALS: Readonly<Record<string, string>> = {
  ...{ AC01: 'account_not_found', AC03: 'account_not_found', AC04: 'account_closed' },
  ...{ AC06: 'destination_refused', AG01: 'destination_refused', AG03: 'destination_refused' },
  ...{ BE01: 'name_mismatch', BE04: 'name_mismatch', BE05: 'name_mismatch' },
  ...{ RC01: 'unsupported_destination', RC03: 'unsupported_destination' },
  ...{ RC04: 'unsupported_destination', AM02: 'amount_refused', AM03: 'amount_refused' },
  ...{ AM14: 'amount_refused', AM04: 'rail_unavailable', AB05: 'rail_unavailable' },
  ...{ AB06: 'rail_unavailable', AB07: 'rail_unavailable', AB08: 'rail_unavailable' },
  ...{ AB09: 'rail_unavailable', AB10: 'rail_unavailable', TM01: 'rail_unavailable' },
  ...{ MS02: 'rejected', MS03: 'rejected', NARR: 'rejected', FR01: 'compliance_rejected' },
  RR04: 'compliance_rejected',
}

t.test('each reason of a rejection', async (t) => {
  for (const [code, refusal] of Object.entries(REFUSALS)) {
    const refused = { kind: 'refused', refusal }
    t.same(outcome(statusReport('RJCT', code)), refused, code)
    t.same(outcome(statusReport('RJCT', code), 'query'), refused, `${code} to a query`)
  }
  t.same(outcome(statusReport('RJCT', 'ZZ99')), { kind: 'refused', refusal: 'rejected' })
  t.same(saidIn(statusReport('RJCT', 'ZZ99'), 'submit')[0]?.code, 'ZZ99', 'the code is kept')
  t.same(outcome(statusReport('RJCT')), { kind: 'refused', refusal: 'rejected' })
})

t.test('a rejection that says nothing about the payment is no refusal', async (t) => {
  const notFound = { kind: 'not_found' }
  for (const answered of ['submit', 'query', 'nothing'] as const) {
    t.same(outcome(statusReport('RJCT', 'NOOR'), answered), notFound)
    for (const code of ['AM05', 'DUPL', 'DU01', 'DU03', 'DU04', 'DU05']) {
      t.same(outcome(statusReport('RJCT', code), answered), { kind: 'accepted' }, code)
    }
  }
  t.same(outcome(statusReport('RJCT'), 'query'), notFound, 'without a reason')
  t.same(outcome(statusReport('RJCT', 'ZZ99'), 'query'), notFound, 'with an unknown one')
  const late = statusReport('RJCT', 'ZZ99')
  if (late.name !== 'pacs.002.001.11') throw new Error('another message')
  const [report] = late.body.TxInfAndSts
  const OrgnlGrpInf = { OrgnlMsgId: 'Q1', OrgnlMsgNmId: 'pacs.028.001.04' }
  const TxInfAndSts = [{ ...report!, OrgnlGrpInf }]
  const answer = { ...late, body: { ...late.body, TxInfAndSts } }
  t.same(outcome(answer, 'nothing'), notFound, 'that comes by itself')
})

t.test('an unknown payment, told by itself, has the moment of its status request', async (t) => {
  const told = statusReport('RJCT', 'NOOR')
  if (told.name !== 'pacs.002.001.11') throw new Error('another message')
  const [report] = told.body.TxInfAndSts
  const naming = (OrgnlMsgId: string): Message => {
    const OrgnlGrpInf = { OrgnlMsgId, OrgnlMsgNmId: 'pacs.028.001.04' }
    return { ...told, body: { ...told.body, TxInfAndSts: [{ ...report!, OrgnlGrpInf }] } }
  }
  const request = statusRequest(PAYOUT, AT, US).id
  t.same(outcome(naming(request), 'nothing'), { kind: 'not_found', askedAt: AT })
  const others = statusRequest(PROXY_TRANSFER.id, AT, US).id
  for (const id of [PAYOUT, others, `${request.slice(0, -8)}--------`, 'x']) {
    t.same(outcome(naming(id), 'nothing'), { kind: 'not_found' }, id)
  }
})

t.test('statuses, amounts, returns and recalls', async (t) => {
  const transactionId = uetrOf(PAYOUT)
  const executed = { kind: 'executed', transactionId, currency: 'VND' }
  for (const status of ['ACSC', 'ACCC']) {
    t.same(outcome(statusReport(status)), { ...executed, amount: 1_250_000n })
  }
  t.same(outcome(statusReport('ACSC', undefined, 7n)), { ...executed, amount: 7n })
  t.same(outcome(statusReport('ACSC', undefined, null)), { kind: 'executed', transactionId })
  for (const status of ['ACTC', 'ACCP', 'ACSP', 'ACWP', 'PDNG', 'RCVD', 'ZZZZ']) {
    t.same(outcome(statusReport(status)), { kind: 'accepted' }, status)
  }
  const returned = { kind: 'returned', transactionId, amount: 1_250_000n, currency: 'VND' }
  t.same(outcome(SAMPLES['pacs.004.001.10']), returned)
  for (const code of ['CUST', 'LEGL', 'NOAS']) {
    t.same(outcome(resolution('RJCR', code)), { kind: 'recall_refused' }, code)
  }
  for (const code of ['ARDT', 'NOOR'])
    t.same(outcome(resolution('RJCR', code)), { kind: 'accepted' }, code)
  for (const status of ['ACCR', 'PDCR'])
    t.same(outcome(resolution(status)), { kind: 'accepted' }, status)
  t.same(saidIn(SAMPLES['admi.002.001.01'], 'submit'), [])
})

t.test('a reason in the words of the network counts as its code', async (t) => {
  const told = statusReport('RJCT')
  if (told.name !== 'pacs.002.001.11') throw new Error('another message')
  const [report] = told.body.TxInfAndSts
  const because = (Prtry: string): Message => {
    const StsRsnInf = [{ Rsn: { Prtry }, AddtlInf: [] }]
    return { ...told, body: { ...told.body, TxInfAndSts: [{ ...report!, StsRsnInf }] } }
  }
  t.same(outcome(because('NOOR')), { kind: 'not_found' })
  t.same(saidIn(because('OWN-7'), 'submit')[0]?.code, 'OWN-7')
})

t.test('a message about several payments speaks of each', async (t) => {
  const [one, other] = [PAYOUT, PROXY_TRANSFER.id]
  const twice = (message: Message, part: string): Message => {
    const text = writeMessage(message).toString()
    const [whole = ''] = new RegExp(`<${part}>.*</${part}>`).exec(text) ?? []
    const second = whole.replaceAll(one, other).replaceAll(uetrOf(one), uetrOf(other))
    return readMessage(Buffer.from(text.replace(whole, whole + second)), MESSAGE_BOUNDS)
  }
  for (const [message, part, kind] of [
    [statusReport('RJCT', 'AC04'), 'TxInfAndSts', 'refused'],
    [SAMPLES['pacs.004.001.10'], 'TxInf', 'returned'],
    [resolution('RJCR', 'CUST'), 'TxInfAndSts', 'recall_refused'],
    [resolution('RJCR', 'CUST'), 'CxlDtls', 'recall_refused'],
  ] as const) {
    t.same(
      saidIn(twice(message, part), 'nothing').map(({ id, outcome }) => [id, outcome.kind]),
      [
        [one, kind],
        [other, kind],
      ],
      part,
    )
  }
})

t.test('a return of less is of the amount that came back', async (t) => {
  const text = writeMessage(SAMPLES['pacs.004.001.10']).toString()
  const less = text.replace(/(<RtrdIntrBkSttlmAmt[^>]*>)1250000/, '$11249000')
  t.not(less, text)
  t.match(outcome(readMessage(Buffer.from(less), MESSAGE_BOUNDS)), { amount: 1_249_000n })
})

t.test('the status of a whole message is that of its payment', async (t) => {
  const told = statusReport('RJCT')
  if (told.name !== 'pacs.002.001.11') throw new Error('another message')
  const { GrpHdr, TxInfAndSts } = told.body
  const ofGroup = (group: object, own: typeof TxInfAndSts = []): Message => {
    const about = { OrgnlMsgId: PAYOUT, OrgnlMsgNmId: 'pacs.008.001.09', StsRsnInf: [] }
    return {
      ...told,
      body: { GrpHdr, OrgnlGrpInfAndSts: [{ ...about, ...group }], TxInfAndSts: own },
    }
  }
  const closed = { GrpSts: 'RJCT', StsRsnInf: [{ Rsn: { Cd: 'AC04' }, AddtlInf: [] }] }
  const refused = { kind: 'refused', refusal: 'account_closed' }
  const read = readMessage(writeMessage(ofGroup(closed)), MESSAGE_BOUNDS)
  t.same(saidIn(read, 'submit'), [{ id: PAYOUT, outcome: refused, code: 'AC04' }])
  t.same(outcome(ofGroup({ GrpSts: 'RJCT' })), { kind: 'refused', refusal: 'rejected' })
  t.match(outcome(ofGroup({ GrpSts: 'ACSC' })), { kind: 'executed' })
  t.same(outcome(ofGroup({ GrpSts: 'PART' })), { kind: 'accepted' })
  const repeated = { ...closed, StsRsnInf: [{ Rsn: { Cd: 'DUPL' }, AddtlInf: [] }] }
  t.same(outcome(ofGroup(repeated)), { kind: 'accepted' }, 'a repeated message')
  const [own] = TxInfAndSts
  const executed = [{ ...own!, TxSts: 'ACSC' }]
  t.match(outcome(ofGroup(closed, executed)), { kind: 'executed' }, 'its own status counts')
  const { TxSts, ...silent } = own!
  t.equal(TxSts, 'RJCT')
  t.same(outcome(ofGroup(closed, [silent])), refused, 'it has none of its own')
  for (const group of [{}, { ...closed, OrgnlMsgNmId: 'pacs.028.001.04' }]) {
    t.same(saidIn(ofGroup(group), 'nothing'), [], 'no status of a payment')
  }
})

t.test('the refusal to cancel a whole message is that of its payment', async (t) => {
  const told = resolution('RJCR', 'CUST')
  if (told.name !== 'camt.029.001.10') throw new Error('another message')
  const { TxInfAndSts } = told.body.CxlDtls[0]!
  const ofGroup = (
    GrpCxlSts: string,
    code: string,
    own: typeof TxInfAndSts = [],
    OrgnlMsgNmId = 'pacs.008.001.09',
  ): Message => {
    const OrgnlGrpInfAndSts = {
      ...{ OrgnlMsgId: PAYOUT, OrgnlMsgNmId, GrpCxlSts },
      CxlStsRsnInf: [{ Rsn: { Cd: code } }],
    }
    return {
      ...told,
      body: { ...told.body, CxlDtls: [{ OrgnlGrpInfAndSts, TxInfAndSts: own }] },
    }
  }
  const read = readMessage(writeMessage(ofGroup('RJCR', 'LEGL')), MESSAGE_BOUNDS)
  const refused = { id: PAYOUT, outcome: { kind: 'recall_refused' }, code: 'LEGL' }
  t.same(saidIn(read, 'recall'), [refused])
  t.same(outcome(ofGroup('RJCR', 'ARDT')), { kind: 'accepted' }, 'returned before')
  t.same(outcome(ofGroup('PACR', 'NARR')), { kind: 'accepted' })
  const agreed = TxInfAndSts.map((answer) => ({ ...answer, TxCxlSts: 'ACCR' }))
  t.same(outcome(ofGroup('RJCR', 'LEGL', agreed)), { kind: 'accepted' }, 'its own answer counts')
  const ofAnother = ofGroup('RJCR', 'LEGL', [], 'pacs.004.001.10')
  t.same(saidIn(ofAnother, 'recall'), [], 'of a message that is no payment')
})

t.test('a report with contradicting references is of no payment', async (t) => {
  const text = writeMessage(statusReport('RJCT', 'AC04')).toString()
  const other = PROXY_TRANSFER.id
  for (const changed of [
    text.replace(uetrOf(PAYOUT), uetrOf(other)),
    text.replace(`<OrgnlTxId>${PAYOUT}`, `<OrgnlTxId>${other}`),
    text.replace(`<OrgnlEndToEndId>${PAYOUT}`, `<OrgnlEndToEndId>${other}`),
    text.replace(`<OrgnlInstrId>${PAYOUT}`, `<OrgnlInstrId>${other}`),
    text.replaceAll(PAYOUT, 'another-member'),
  ]) {
    t.not(changed, text)
    t.same(saidIn(readMessage(Buffer.from(changed), MESSAGE_BOUNDS), 'submit'), [])
  }
})

const transfer = writeMessage(SAMPLES['pacs.008.001.09']).toString()
/** Each change of a valid message, and what is told of it. */
const FAULTS: readonly (readonly [from: string | RegExp, to: string, fault: RegExp])[] = [
  ['urn:iso:std:iso:20022:tech:xsd:pacs.008.001.09"', 'urn:other"', /namespace/],
  ['head.001.001.02', 'head.001.001.01', /namespace/],
  ['<MsgDefIdr>pacs.008.001.09', '<MsgDefIdr>pacs.008.001.08', /know: pacs\.008\.001\.08$/],
  ['<MsgDefIdr>pacs.008.001.09', '<MsgDefIdr>0071001234567', /none that we know$/],
  ['<ChrgBr>SLEV</ChrgBr>', '', /ChrgBr is missing/],
  ['<ChrgBr>SLEV</ChrgBr>', '<ChrgBr>SLEV</ChrgBr><ChrgBr>SLEV</ChrgBr>', /repeated/],
  ['<ChrgBr>SLEV', '<ChrgBr>XXXX', /another form/],
  ['<ChrgBr>SLEV</ChrgBr>', '<ChrgBr/>', /another form/],
  ['<ChrgBr>SLEV', '<ChrgBr a="b">SLEV', /attributes/],
  ['Ccy="VND">1250000', 'Ccy="VND">1250000.5', /no amount of its currency/],
  ['Ccy="VND">1250000', 'Ccy="VND">-1', /no amount of its currency/],
  ['Ccy="VND">1250000', 'Ccy="VND">1e6', /no amount of its currency/],
  ['Ccy="VND"', 'Ccy="ZZZ"', /no currency/],
  [' Ccy="VND"', '', /no currency/],
  [/<UETR>.*<\/UETR>/, '<UETR>1</UETR>', /UETR has another form/],
  [/<MsgId>.*?<\/MsgId>/, `<MsgId>${'x'.repeat(36)}</MsgId>`, /too long/],
  [/(<Dbtr>.*?<\/Dbtr>)(<DbtrAcct>.*?<\/DbtrAcct>)/, '$2$1', /out of order/],
  ['<ChrgBr>SLEV</ChrgBr>', '<ChrgBr>SLEV</ChrgBr><pwn:a/>', /name/],
  ['</Document>', '</Document><Document/>', /root/],
  ['</FIToFICstmrCdtTrf>', '</FIToFICstmrCdtTrf><Other/>', /document is not FIToFICstmrCdtTrf/],
  ['</Othr></Id></DbtrAcct>', '</Othr><IBAN>NL91ABNA0417164300</IBAN></Id></DbtrAcct>', /choice/],
  [/<Dbtr>.*<\/Dbtr>/, '<Dbtr>Causeway</Dbtr>', /Dbtr has text/],
  ['Ccy="VND">1250000', `Ccy="THB">${'9'.repeat(18)}.00`, /IntrBkSttlmAmt is too large/],
  ['<Document xmlns', '<Document xmlns:x="y" xmlns', /attributes|namespace/],
]

t.test('a message with a fault is refused, with no value of it in the text', async (t) => {
  for (const [from, to, fault] of FAULTS) {
    const changed = transfer.replace(from, to)
    t.not(changed, transfer, String(from))
    t.throws(() => readMessage(Buffer.from(changed), MESSAGE_BOUNDS), fault, String(from))
  }
  const extended = transfer.replace('<ChrgBr>', '<SttlmPrty>HIGH</SttlmPrty><ChrgBr>')
  t.same(readMessage(Buffer.from(extended), MESSAGE_BOUNDS), SAMPLES['pacs.008.001.09'])
  const { name } = TRANSFER.destination
  const long = { ...TRANSFER, destination: { ...TRANSFER.destination, account: '1'.repeat(35) } }
  t.throws(() => writeMessage(creditTransfer(long, AT, US)), { message: 'Id is too long' })
  t.notMatch('Id is too long', name)
})

t.test('zeros beyond the digits of a currency are no other amount', async (t) => {
  for (const zeros of ['.0', '.00', '.00000']) {
    const written = transfer.replace('Ccy="VND">1250000', `Ccy="VND">1250000${zeros}`)
    t.not(written, transfer)
    t.same(readMessage(Buffer.from(written), MESSAGE_BOUNDS), SAMPLES['pacs.008.001.09'], zeros)
  }
})

t.test('an amount without all digits of its currency is as large as it is written', async (t) => {
  for (const [written, minor] of [
    ['12.5', 1_250n],
    ['12', 1_200n],
    ['0.05', 5n],
  ] as const) {
    const inBaht = transfer.replace('Ccy="VND">1250000', `Ccy="THB">${written}`)
    t.not(inBaht, transfer)
    t.match(readMessage(Buffer.from(inBaht), MESSAGE_BOUNDS).body, {
      CdtTrfTxInf: [{ IntrBkSttlmAmt: { minor, currency: 'THB' } }],
    })
  }
})

const paidTo = (name: string, amount = TRANSFER.amount) =>
  creditTransfer({ ...TRANSFER, amount, destination: { ...TRANSFER.destination, name } }, AT, US)

t.test('what is written can be read, or is not written', async (t) => {
  const largest = 999_999_999_999_999_999n
  for (const message of [paidTo('\u{10FFFD}\uFFFD'), paidTo('x', largest)]) {
    t.same(readMessage(writeMessage(message), MESSAGE_BOUNDS), message)
  }
  for (const name of ['a\uFFFE', '\uFFFF']) {
    t.throws(() => writeMessage(paidTo(name)), { message: 'Nm has a character that XML has not' })
  }
  t.throws(() => writeMessage(paidTo('x', largest + 1n)), /IntrBkSttlmAmt is too large/)
  t.throws(() => writeMessage(paidTo('x', -1n)), /IntrBkSttlmAmt is no amount/)
  const small = creditTransfer({ ...PROXY_TRANSFER, amount: 5n }, AT, US)
  t.match(writeMessage(small).toString(), '<IntrBkSttlmAmt Ccy="THB">0.05<')
})

t.test('a payee with a blank name is paid without a name', async (t) => {
  t.same(paidTo(' '), paidTo(''))
})
