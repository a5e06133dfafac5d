/** Numbers, pages and balances of statements: what is missing or does not add up is told. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DAY } from '../../../src/base/clock.js'
import type { EffectId } from '../../../src/base/ids.js'
import { MESSAGE_BOUNDS, readMessage, writeMessage } from '../../../src/rails/iso20022/codec.js'
import type { Message } from '../../../src/rails/iso20022/messages.js'
import { openRecord } from '../../../src/rails/iso20022/record.js'
import { readNotification, readStatement } from '../../../src/rails/iso20022/statements.js'
import { uetrOf } from '../../../src/rails/iso20022/payment_messages.js'
import { PAYOUT, SAMPLES } from './samples.js'
import { tempFolder } from '../../support/temp_folder.js'
import { simulatedClock } from '../../support/world.js'

type Change = readonly [from: string | RegExp, to: string]
type StatedName = 'camt.053.001.08' | 'camt.054.001.08'

/** Takes messages of one switch, one after the other. @returns the notices of each */
async function aReader(t: Test) {
  const clock = simulatedClock()
  const record = await openRecord(join(tempFolder(t), 'record.db'), clock)
  t.teardown(() => record.close())
  let payments = 0
  /** Each message is about a payment of its own, if none is given. */
  const read = async (
    name: StatedName,
    changes: readonly Change[],
    payment = paymentNumber((payments += 1)),
  ): Promise<readonly string[]> => {
    const sample = writeMessage(SAMPLES[name]).toString()
    const own = sample.replaceAll(PAYOUT, payment).replaceAll(uetrOf(PAYOUT), uetrOf(payment))
    const text = changes.reduce((before, [from, to]) => {
      const changed = before.replace(from, to)
      t.not(changed, before, String(from))
      return changed
    }, own)
    const message = readMessage(Buffer.from(text), MESSAGE_BOUNDS) as Extract<
      Message,
      { name: StatedName }
    >
    const { MsgPgntn } = message.body.GrpHdr
    const found =
      message.name === 'camt.053.001.08'
        ? await readStatement(message.body.Stmt[0]!, MsgPgntn, record)
        : await readNotification(message.body.Ntfctn[0]!, MsgPgntn, record)
    return found.notices.map(({ kind, subject, code }) => `${kind} ${subject} ${code}`)
  }
  return {
    clock,
    stated: (...changes: readonly Change[]) => read('camt.053.001.08', changes),
    statedOf: (payment: EffectId, ...changes: readonly Change[]) =>
      read('camt.053.001.08', changes, payment),
    notifiedOf: (payment: EffectId, ...changes: readonly Change[]) =>
      read('camt.054.001.08', changes, payment),
    notified: (...changes: readonly Change[]) => read('camt.054.001.08', changes),
  }
}

const paymentNumber = (number: number): EffectId =>
  `pout_01M0000000000000000000${String(number).padStart(4, '0')}` as EffectId

const numbered = (number: number): Change => [/<ElctrncSeqNb>\d+/, `<ElctrncSeqNb>${number}`]
const ofIban = (iban: string): Change => [/<Othr><Id>\d+<\/Id><\/Othr>/, `<IBAN>${iban}</IBAN>`]

t.test('accounts with an IBAN are numbered each by itself', async (t) => {
  const { stated, notified } = await aReader(t)
  const [one, other] = [ofIban('DE02120300000000202051'), ofIban('NL91ABNA0417164300')]
  for (const [read, kind] of [
    [stated, 'statement_missing'],
    [notified, 'notification_missing'],
  ] as const) {
    t.same(await read(one, numbered(7)), [])
    t.same(await read(other, numbered(20)), [])
    t.same(await read(one, numbered(9)), [`${kind} VND 8`])
    t.same(await read(numbered(30)), [], 'an account with another id')
    t.same(await read(one, IN_BAHT, numbered(40)), [], 'its other currency')
    t.same(await read(one, numbered(10)), [])
  }
})

const IN_BAHT: Change = [/VND/g, 'THB']

const closing = (amount: number): Change => [
  /(?<head>CLBD.*?<Amt Ccy="VND">)1250000/,
  `$<head>${amount}`,
]

t.test('a statement that does not add up is told', async (t) => {
  const { stated } = await aReader(t)
  const unbalanced = ['statement_unbalanced VND 1']
  const former: Change = ['OPBD', 'PRCD']
  t.same(await stated(former), [])
  t.same(await stated(closing(1_250_001)), unbalanced)
  t.same(await stated(former, closing(1_250_001)), unbalanced, 'from the balance before')
  t.same(await stated(former, ['CLBD', 'ITBD']), [], 'without a closing balance')
  const amount = '<Amt Ccy="THB">12500.00'
  const inBaht: Change = [/(?<head><Ntry>.*?)<Amt Ccy="VND">1250000/, `$<head>${amount}`]
  t.same(await stated(inBaht), unbalanced, 'as many minor units of another currency')
  t.same(await stated(['OPBD', 'ITBD'], closing(1_250_001)), [], 'without an opening balance')
  const pending = (amount: number): Change => [
    '</Ntry>',
    `</Ntry><Ntry><Amt Ccy="VND">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd>` +
      '<Sts><Cd>PDNG</Cd></Sts><BkTxCd/></Ntry>',
  ]
  t.same(await stated(pending(7)), [], 'an entry that is not booked')
  const inCredit: Change = [/(?<head>OPBD.*?">)0(?<rest>.*?<CdtDbtInd>)DBIT/, '$<head>7$<rest>CRDT']
  t.same(await stated(inCredit, closing(1_249_993)), [], 'from a credit')
  t.same(await stated(inCredit, closing(1_250_007)), unbalanced)
})

t.test('a statement without a number is named by its id', async (t) => {
  const { stated, statedOf } = await aReader(t)
  const [payment, other] = [paymentNumber(9_001), paymentNumber(9_002)]
  const unnumbered: Change = [/<ElctrncSeqNb>\d+<\/ElctrncSeqNb>/, '']
  const named = (id: string): Change => ['<Stmt><Id>T1', `<Stmt><Id>${id}`]
  const both = closing(2_500_000)
  t.same(await statedOf(payment, page(1), unnumbered, both), [])
  t.same(await statedOf(other, page(2, true), unnumbered, named('T2'), both), [
    ...['statement_missing VND T1 page 2', 'statement_missing VND T2 page 1'],
  ])
  t.same(await stated(page(2, true), unnumbered, both), [], 'it comes, and all adds up')
  t.same(await statedOf(payment, unnumbered, named('T3')), [`entry_unclear ${payment} repeated`])
  t.same(await stated(unnumbered, ['<Ccy>VND</Ccy></Acct>', '</Acct>']), [], 'nor a currency')
})

const pageOf = (element: string, page: number, isLast: boolean): string =>
  `<${element}><PgNb>${page}</PgNb><LastPgInd>${isLast}</LastPgInd></${element}>`
/** A page of a statement. Its entries move 1250000. */
const page = (number: number, isLast = false): Change => [
  '<Id>T1</Id><Elctrnc',
  `<Id>T1</Id>${pageOf('StmtPgntn', number, isLast)}<Elctrnc`,
]
const THREE_PAGES = closing(3_750_000)

t.test('pages of a statement are one statement', async (t) => {
  const { stated } = await aReader(t)
  const ofStatement = [numbered(8), THREE_PAGES] as const
  for (const at of [1, 2, 2]) t.same(await stated(page(at), ...ofStatement), [], `page ${at}`)
  t.same(await stated(page(3, true), ...ofStatement), [])
  t.same(await stated(numbered(9)), [])
  const wrong = [numbered(10), closing(3_750_001)] as const
  t.same(await stated(page(1), ...wrong), [])
  t.same(await stated(page(2), ...wrong), [])
  t.same(await stated(page(3, true), ...wrong), ['statement_unbalanced VND 10'])
  t.same(await stated(page(1, true), numbered(11)), [], 'the only page')
})

t.test('the opening balance is on the first page, the closing one on the last', async (t) => {
  const { stated } = await aReader(t)
  const isFirst: Change = ['CLBD', 'ITBD']
  const isBetween: Change = [/OPBD(?<between>.*)CLBD/, 'ITBD$<between>ITBD']
  const isLast: Change = ['OPBD', 'ITBD']
  const lastPage: Change = [...page(3)]
  const inDigits: Change = [lastPage[0], lastPage[1].replace('false', '1')]
  for (const [number, total, told] of [
    [8, 3_750_000, []],
    [9, 3_750_001, ['statement_unbalanced VND 9']],
  ] as const) {
    const ofStatement = numbered(number)
    t.same(await stated(inDigits, ofStatement, closing(total), isLast), [
      `statement_missing VND ${number} page 1`,
      `statement_missing VND ${number} page 2`,
    ])
    t.same(await stated(page(1), ofStatement, isFirst), [`statement_missing VND ${number} page 2`])
    t.same(await stated(page(2), ofStatement, isBetween), told)
  }
})

t.test(
  'a number that the bank counts again is another statement, with its own pages',
  async (t) => {
    const { clock, stated } = await aReader(t)
    for (const at of [1, 2]) t.same(await stated(page(at), numbered(8), THREE_PAGES), [])
    t.same(await stated(page(3, true), numbered(8), THREE_PAGES), [])
    t.same(await stated(page(1), numbered(9)), [])
    const missing = ['statement_missing VND 9 page 2']
    t.same(await stated(numbered(10)), missing)
    clock.pass(200 * DAY)
    const moved: Change = [/(?<head><Ntry>.*?">)1250000/, '$<head>1000000']
    const opened: Change = [/(?<head>OPBD.*?">)0/, '$<head>500000']
    const total = closing(2_500_000)
    t.same(await stated(page(1), numbered(8), moved, opened, total), [])
    t.same(await stated(page(2, true), numbered(8), moved, opened, total), [])
    t.same(await stated(page(1), numbered(9)), [])
    t.same(await stated(numbered(10)), missing, 'again')
  },
)

t.test('pages that are missing are those of one account', async (t) => {
  const { stated } = await aReader(t)
  const other = ofIban('NL91ABNA0417164300')
  t.same(await stated(page(1), numbered(8)), [])
  t.same(await stated(page(1), numbered(8), other), [])
  t.same(await stated(numbered(9), other), ['statement_missing VND 8 page 2'])
  t.same(await stated(numbered(9)), ['statement_missing VND 8 page 2'])
})

t.test('a page that is missing is told, with the last one or the next statement', async (t) => {
  const { clock, stated, notified } = await aReader(t)
  const ofStatement = [numbered(8), THREE_PAGES] as const
  t.same(await stated(page(1), ...ofStatement), [])
  t.same(await stated(page(3, true), ...ofStatement), ['statement_missing VND 8 page 2'])
  t.same(await stated(page(2), ...ofStatement), [], 'it comes, and all adds up')
  for (const at of [1, 2]) t.same(await stated(page(at), numbered(9), THREE_PAGES), [])
  t.same(await stated(numbered(10)), ['statement_missing VND 9 page 3'])
  t.same(await stated(numbered(11)), [], 'once')
  clock.pass(200 * DAY)
  t.same(await stated(page(2, true), numbered(8)), ['statement_missing VND 8 page 1'], 'of a year')

  const ofMessage = (at: number, isLast: boolean): Change => [
    '</CreDtTm></GrpHdr>',
    `</CreDtTm>${pageOf('MsgPgntn', at, isLast)}</GrpHdr>`,
  ]
  t.same(await stated(ofMessage(2, true), numbered(9)), ['statement_missing VND 9 page 1'])
  const ofNotification: Change = ['<Id>N1</Id>', `<Id>N1</Id>${pageOf('NtfctnPgntn', 2, true)}`]
  t.same(await notified(ofNotification), ['notification_missing VND 1 page 1'])
})

t.test('a payment that two statements book is told when the second one comes', async (t) => {
  const { statedOf, notifiedOf } = await aReader(t)
  const [payment, other] = [paymentNumber(9_001), paymentNumber(9_002)]
  const repeated = [`entry_unclear ${payment} repeated`]
  t.same(await notifiedOf(payment), [])
  t.same(await statedOf(payment, numbered(7)), [], 'it was announced')
  t.same(await statedOf(payment, numbered(7)), [], 'the statement comes again')
  t.same(await notifiedOf(payment, numbered(2)), [], 'the notification is repeated')
  t.same(await statedOf(other, numbered(8)), [])
  t.same(await statedOf(payment, numbered(9)), repeated)
  t.same(await statedOf(payment, numbered(9)), repeated, 'also when that one comes again')
  const returned: readonly Change[] = [
    [/(?<head><Ntry>.*?<CdtDbtInd>)DBIT/, '$<head>CRDT'],
    ['CLBD', 'ITBD'],
  ]
  t.same(await statedOf(payment, numbered(10), ...returned), [], 'its return')
  t.same(await statedOf(payment, numbered(11), ...returned), repeated)
})

t.test('a payment on two pages of a statement is told', async (t) => {
  const { statedOf } = await aReader(t)
  const payment = paymentNumber(9_001)
  const ofStatement = [numbered(8), closing(2_500_000)] as const
  t.same(await statedOf(payment, page(1), ...ofStatement), [])
  t.same(await statedOf(payment, page(1), ...ofStatement), [])
  t.same(await statedOf(payment, page(2, true), ...ofStatement), [
    `entry_unclear ${payment} repeated`,
  ])
})
