/** What an entry of a statement says of a payment, and what an operator is told of instead. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { MESSAGE_BOUNDS, readMessage, writeMessage } from '../../../src/rails/iso20022/codec.js'
import type { EffectId } from '../../../src/base/ids.js'
import type { Message } from '../../../src/rails/iso20022/messages.js'
import { uetrOf } from '../../../src/rails/iso20022/payment_messages.js'
import { openRecord } from '../../../src/rails/iso20022/record.js'
import { readNotification } from '../../../src/rails/iso20022/statements.js'
import { PAYOUT, PROXY_TRANSFER, SAMPLES } from './samples.js'
import { tempFolder } from '../../support/temp_folder.js'
import { simulatedClock } from '../../support/world.js'

type Change = readonly [from: string | RegExp, to: string]

/** What the only entry of a notification says, after changes of its text. */
const inEntry = (t: Test, ...changes: readonly Change[]) => readEntry(t, [], changes)

/** @param sent the payments whose UETR is kept */
async function readEntry(t: Test, sent: readonly EffectId[], changes: readonly Change[]) {
  const { body } = readMessage(
    Buffer.from(
      changes.reduce((text, [from, to]) => {
        const changed = text.replace(from, to)
        t.not(changed, text, String(from))
        return changed
      }, writeMessage(SAMPLES['camt.054.001.08']).toString()),
    ),
    MESSAGE_BOUNDS,
  ) as Extract<Message, { name: 'camt.054.001.08' }>
  const record = await openRecord(join(tempFolder(t), 'record.db'), simulatedClock())
  for (const id of sent) record.sent(id)
  const [notified] = body.Ntfctn
  const { saids, notices } = await readNotification(notified!, undefined, record)
  await record.close()
  return { said: saids, notices }
}

const MOVED = { transactionId: uetrOf(PAYOUT), amount: 1_250_000n, currency: 'VND' }
const CREDIT = ['<CdtDbtInd>DBIT', '<CdtDbtInd>CRDT'] as const
const CORRECTS = ['<Sts>', '<RvslInd>true</RvslInd><Sts>'] as const
const RETURNS = ['</Refs>', '</Refs><RtrInf><Rsn><Cd>FOCR</Cd></Rsn></RtrInf>'] as const

t.test('the correction of an entry is no return, and an operator is told', async (t) => {
  const returned = { id: PAYOUT, outcome: { kind: 'returned', ...MOVED } }
  t.same(await inEntry(t, CREDIT), { said: [returned], notices: [] })
  t.same(await inEntry(t, CREDIT, CORRECTS), {
    said: [],
    notices: [{ kind: 'entry_corrected', subject: PAYOUT, code: 'CRDT' }],
  })
  t.same(await inEntry(t, CREDIT, CORRECTS, RETURNS), { said: [returned], notices: [] })
  const inDigits = ['<Sts>', '<RvslInd>1</RvslInd><Sts>'] as const
  t.same((await inEntry(t, CREDIT, inDigits)).said, [], 'as the standard also writes it')
})

t.test('an entry with charges and with references of the bank is of its payment', async (t) => {
  const executed = [{ id: PAYOUT, outcome: { kind: 'executed', ...MOVED } }]
  const charged = ['<Amt Ccy="VND">1250000', '<Amt Ccy="VND">1255500'] as const
  const apart = ['</Refs>', '</Refs><Amt Ccy="VND">1250000</Amt>'] as const
  t.same((await inEntry(t, charged, apart)).said, executed)
  const own = [`<InstrId>${PAYOUT}`, '<InstrId>BANK-7'] as const
  t.same((await inEntry(t, own)).said, executed)
  const other = [`<InstrId>${PAYOUT}`, `<InstrId>${PROXY_TRANSFER.id}`] as const
  const contradicts = { kind: 'entry_unclear', subject: PROXY_TRANSFER.id, code: 'references' }
  t.same(await inEntry(t, other), { said: [], notices: [contradicts] }, 'two payments')
  const withoutUetr = [/<UETR>.*<\/UETR>/, ''] as const
  t.same(await inEntry(t, other, withoutUetr), { said: [], notices: [contradicts] })
})

const vnd = (amount: number) => `<Amt Ccy="VND">${amount}</Amt>`
const OTHER = PROXY_TRANSFER.id
const executedWith = (amount: bigint, id = PAYOUT) => ({
  id,
  outcome: { kind: 'executed', transactionId: uetrOf(id), amount, currency: 'VND' },
})
const EXECUTED = executedWith(1_250_000n)
const RETURNED = { id: PAYOUT, outcome: { kind: 'returned', ...MOVED } }
const noticeOf = (kind: string, code: string, subject: string = PAYOUT) => ({ kind, subject, code })
const unclear = (code: string, subject?: string) => noticeOf('entry_unclear', code, subject)

/** The amount of the entry, and the amount of its details. */
const booked = (amount: string): Change => ['<Amt Ccy="VND">1250000<', `<Amt Ccy="VND">${amount}<`]
const detailed = (amount: string): Change => ['</Refs>', `</Refs><Amt Ccy="VND">${amount}</Amt>`]
const codeOf = (family: string) =>
  `<Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>${family}</SubFmlyCd></Fmly></Domn>`
const coded = (family: string): Change => ['<BkTxCd>', `<BkTxCd>${codeOf(family)}`]

t.test('a charge of its own with the reference of a payment is no execution', async (t) => {
  for (const code of ['CHRG', 'COMM', 'COME', 'COMI', 'COMT', 'FEES', 'INTR', 'TAXE']) {
    const charge = { said: [], notices: [noticeOf('charge', code)] }
    t.same(await inEntry(t, booked('5500'), coded(code)), charge, code)
    t.same(await inEntry(t, booked('5500'), coded(code), CREDIT), charge, 'and none returns it')
  }
  const inDetails: Change = ['</Refs>', `</Refs><BkTxCd>${codeOf('CHRG')}</BkTxCd>`]
  const charge = { said: [], notices: [noticeOf('charge', 'CHRG')] }
  t.same(await inEntry(t, booked('5500'), inDetails), charge)
  t.same(await inEntry(t, coded('ESCT')), { said: [EXECUTED], notices: [] })
})

const DEBITED = '<CdtDbtInd>DBIT</CdtDbtInd>'
const chargesOf = (isIncluded: boolean, amount = vnd(5_500), direction = DEBITED): string =>
  `<Chrgs><Rcrd>${amount}${direction}<ChrgInclInd>${isIncluded}</ChrgInclInd></Rcrd></Chrgs>`
const charged = (...given: Parameters<typeof chargesOf>): Change => [
  '</BkTxCd>',
  `</BkTxCd>${chargesOf(...given)}`,
]

t.test('charges that an entry includes are not of the payment', async (t) => {
  const executed = { said: [EXECUTED], notices: [] }
  t.same(await inEntry(t, booked('1255500'), charged(true)), executed)
  t.same(await inEntry(t, booked('1255500'), charged(true), detailed('1255500')), executed)
  t.same(await inEntry(t, booked('1255500'), charged(true), detailed('1250000')), executed)
  t.same(await inEntry(t, charged(false)), executed, 'booked apart')
  const returned = { said: [RETURNED], notices: [] }
  t.same(await inEntry(t, CREDIT, booked('1244500'), charged(true)), returned)
  const TxAmt: Change = [
    '</Refs>',
    '</Refs><AmtDtls><TxAmt><Amt Ccy="VND">1250000</Amt></TxAmt></AmtDtls>',
  ]
  t.same(await inEntry(t, booked('1255500'), TxAmt), executed)
  t.same(await inEntry(t, booked('1255500'), charged(true, vnd(5_500), '')), executed, 'a debit')
  const reduced = charged(true, vnd(5_500), '<CdtDbtInd>CRDT</CdtDbtInd>')
  t.same(await inEntry(t, booked('1244500'), reduced), executed, 'a reduction')
  const abroad = charged(true, '<Amt Ccy="USD">2.00</Amt>')
  t.same(await inEntry(t, abroad), executed, 'of another currency')
  const inDetails: Change = ['</Refs>', `</Refs>${chargesOf(true)}`]
  t.same(await inEntry(t, booked('1255500'), inDetails), executed, 'of the details')
})

t.test('the amount of the details counts before that of the transaction', async (t) => {
  const both: Change = [
    '</Refs>',
    `</Refs>${vnd(1_250_000)}<AmtDtls><TxAmt>${vnd(1_300_000)}</TxAmt></AmtDtls>`,
  ]
  t.same(await inEntry(t, booked('1255500'), both), { said: [EXECUTED], notices: [] })
  const inDollars: Change = ['<Amt Ccy="VND">1250000<', '<Amt Ccy="USD">50.00<']
  const converted = await inEntry(t, inDollars, detailed('1250000'))
  t.same(converted, { said: [EXECUTED], notices: [] }, 'our account is in another currency')
})

t.test('an entry that does not move the amount of its details is unclear', async (t) => {
  for (const changes of [[], [CREDIT]]) {
    t.same(await inEntry(t, booked('5500'), detailed('1250000'), ...changes), {
      ...{ said: [], notices: [unclear('amount')] },
    })
  }
  t.same(await inEntry(t, booked('0')), { said: [], notices: [unclear('zero')] })
  const less = await inEntry(t, booked('5000'), charged(true))
  t.same(less, { said: [], notices: [unclear('zero')] }, 'less than its charges')
  const opposite: Change = ['</Refs>', '</Refs><CdtDbtInd>CRDT</CdtDbtInd>']
  t.same(await inEntry(t, opposite), { said: [], notices: [unclear('direction')] })
})

t.test('an entry that is not booked says nothing', async (t) => {
  for (const status of ['PDNG', 'INFO', 'FUTR']) {
    const entry = await inEntry(t, ['<Cd>BOOK', `<Cd>${status}`])
    t.same(entry, { said: [], notices: [] }, status)
  }
  const own: Change = ['<Cd>BOOK</Cd>', '<Prtry>Booked</Prtry>']
  t.same(await inEntry(t, own), { said: [], notices: [unclear('status')] }, 'it may be')
})

t.test('a reference of ours that was cut is told, another one is not ours', async (t) => {
  const named = (text: string): Change => [new RegExp(PAYOUT, 'g'), text]
  const cut = PAYOUT.slice(0, 16)
  t.same(await inEntry(t, named(cut)), { said: [], notices: [unclear('references', cut)] })
  const cutIntent = OTHER.slice(0, 16)
  const ofIntent = { said: [], notices: [unclear('references', cutIntent)] }
  t.same(await inEntry(t, named(cutIntent)), ofIntent)
  for (const other of ['INVOICE-7', 'pi_3MtwBwLkdIwHu7ix28a3tqPa']) {
    t.same(await inEntry(t, named(other)), { said: [], notices: [] }, other)
  }
  const another: Change = [uetrOf(PAYOUT), uetrOf(OTHER)]
  t.same(await inEntry(t, another), { said: [], notices: [unclear('references')] })
})

const partOf = (id: string, amount: string, more = '', references = '') =>
  `<TxDtls><Refs><EndToEndId>${id}</EndToEndId>${references}</Refs>${amount}${more}</TxDtls>`
const batch = (...parts: readonly string[]): Change => [/<TxDtls>.*<\/TxDtls>/, parts.join('')]

t.test('each part of a batch entry is of its payment', async (t) => {
  const both = [partOf(PAYOUT, vnd(1_250_000)), partOf(OTHER, vnd(500_000))]
  const executed = [EXECUTED, executedWith(500_000n, OTHER)]
  t.same(await inEntry(t, booked('1750000'), batch(...both)), { said: executed, notices: [] })
  const others = [partOf(PAYOUT, vnd(1_250_000)), partOf('SALARY', vnd(10))]
  t.same(await inEntry(t, booked('1250010'), batch(...others)), { said: [EXECUTED], notices: [] })
  const fee = partOf(PAYOUT, vnd(5_500), `<BkTxCd>${codeOf('CHRG')}</BkTxCd>`)
  t.same(await inEntry(t, booked('1255500'), batch(both[0]!, fee)), {
    ...{ said: [EXECUTED], notices: [noticeOf('charge', 'CHRG')] },
  })
  const back = partOf('SALARY', `${vnd(10)}<CdtDbtInd>CRDT</CdtDbtInd>`)
  t.same((await inEntry(t, booked('1249990'), batch(both[0]!, back))).said, [EXECUTED])
  const withCharges = await inEntry(t, booked('1755500'), batch(...both), charged(true))
  t.same(withCharges, { said: executed, notices: [] }, 'with the charges of the whole')
})

t.test('a batch entry whose parts are not its amount is unclear', async (t) => {
  const both = { said: [], notices: [unclear('parts'), unclear('parts', OTHER)] }
  const parts = (first: string, second: string) =>
    batch(partOf(PAYOUT, first), partOf(OTHER, second))
  t.same(await inEntry(t, booked('1750001'), parts(vnd(1_250_000), vnd(500_000))), both)
  t.same(await inEntry(t, parts(vnd(1_250_000), '')), both, 'without amount')
  const usd = '<Amt Ccy="USD">5.00</Amt>'
  t.same(await inEntry(t, booked('1250500'), parts(vnd(1_250_000), usd)), both, 'of a currency')
})

const again = (change: (entry: string) => string): Change => [/<Ntry>.*<\/Ntry>/, change('$&')]

t.test('a payment that is booked twice is executed once, and an operator is told', async (t) => {
  const twice = { said: [EXECUTED], notices: [unclear('repeated')] }
  t.same(
    await inEntry(
      t,
      again((entry) => entry + entry),
    ),
    twice,
  )
  const different = batch(partOf(PAYOUT, vnd(1_250_000)), partOf(PAYOUT, vnd(5_500)))
  t.same(await inEntry(t, booked('1255500'), different), {
    ...{ said: [], notices: [unclear('repeated')] },
  })
  const [entry = ''] = /<Ntry>.*<\/Ntry>/.exec(writeMessage(SAMPLES['camt.054.001.08']).toString())!
  const inBaht = entry.replace('Ccy="VND">1250000', 'Ccy="THB">12500.00')
  t.same(
    await inEntry(
      t,
      again((same) => same + inBaht),
    ),
    { said: [], notices: [unclear('repeated')] },
    'as many minor units of another currency',
  )
  const back = '<CdtDbtInd>CRDT</CdtDbtInd>'
  const parts = batch(partOf(PAYOUT, vnd(1_250_000)), partOf(PAYOUT, vnd(1_250_000) + back))
  t.same(await inEntry(t, booked('0'), parts), { said: [EXECUTED, RETURNED], notices: [] })
})

t.test('an entry that names a payment by its UETR only is of that payment', async (t) => {
  const withoutIds = new RegExp(`<InstrId>${PAYOUT}</InstrId><EndToEndId>${PAYOUT}</EndToEndId>`)
  const uetrOnly: Change = [withoutIds, '']
  t.same(await readEntry(t, [OTHER, PAYOUT], [uetrOnly]), { said: [EXECUTED], notices: [] })
  t.same(await readEntry(t, [PAYOUT], [uetrOnly, CREDIT]), { said: [RETURNED], notices: [] })
  const ofBank: Change = [withoutIds, '<EndToEndId>BANK-7</EndToEndId>']
  t.same(await readEntry(t, [PAYOUT], [ofBank]), { said: [EXECUTED], notices: [] })
  const cut: Change = [withoutIds, `<EndToEndId>${PAYOUT.slice(0, 16)}</EndToEndId>`]
  t.same(await readEntry(t, [PAYOUT], [cut]), { said: [EXECUTED], notices: [] })
  const notCut: Change = [withoutIds, '<EndToEndId>pout_01M9</EndToEndId>']
  const contradicts = { said: [], notices: [unclear('references', 'pout_01M9')] }
  t.same(await readEntry(t, [PAYOUT], [notCut]), contradicts)

  const nothing = { said: [], notices: [] }
  const told = { said: [], notices: [unclear('uetr', uetrOf(PAYOUT))] }
  t.same(await readEntry(t, [OTHER], [uetrOnly]), told)
  const notProvided: Change = [withoutIds, '<EndToEndId>NOTPROVIDED</EndToEndId>']
  t.same(await readEntry(t, [], [notProvided]), told)
  t.same(await readEntry(t, [], [ofBank]), nothing, 'the payment of another one')
  t.same(await readEntry(t, [], [uetrOnly, CREDIT]), nothing, 'one to us')
  t.same(await readEntry(t, [], [uetrOnly, coded('CHRG')]), nothing, 'a charge')
  t.same(await readEntry(t, [], [uetrOnly, ['<Cd>BOOK', '<Cd>PDNG']]), nothing, 'not booked')
  t.same(await readEntry(t, [], [uetrOnly, CORRECTS]), nothing, 'a correction')
})
