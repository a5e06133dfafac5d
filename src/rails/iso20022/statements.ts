/**
 * Statements of our account at the switch, and its notifications of single entries: what they say
 * of our payments, and whether one is missing or does not add up.
 *
 * - Statements and notifications are numbered apart. A notification has no balances.
 * - Only booked entries about one payment count.
 * - An entry that debits us is an execution, one that credits us a return. Its amount is that of
 *   the payment, where the entry has it apart from charges.
 * - An entry that corrects another one says nothing: the bank can have booked a payment twice, and
 *   the credit is then no return. An operator is told. With a return's reason it is a return.
 */
import type { EffectId } from '../../base/ids.js'
import type { BankOutcome } from '../adapter/bank.js'
import { isEffectId } from '../wire_validators.js'
import type { MessageBody } from './messages.js'
import type { Said } from './outcome.js'
import { uetrOf } from './payment_messages.js'
import type { Alarm, Notice, Record } from './record.js'
import type { Amount } from './shape.js'

type Statement = MessageBody<'camt.053.001.08'>['Stmt'][number]
type Notification = MessageBody<'camt.054.001.08'>['Ntfctn'][number]
type Entry = Notification['Ntry'][number]

export type AlarmNotice = Notice & { readonly kind: Alarm }

const BOOKED = 'BOOK'
const DEBIT = 'DBIT'
const OPENING = 'OPBD'
const CLOSING = 'CLBD'

export const saidInStatement = ({ Ntry }: Pick<Notification, 'Ntry'>): readonly Said[] =>
  Ntry.flatMap(saidInEntry)

function saidInEntry(entry: Entry): readonly Said[] {
  const id = paymentIn(entry)
  if (id === undefined || isCorrection(entry)) return []
  const { Amt, CdtDbtInd } = entry
  const { minor, currency } = detailsIn(entry)[0]?.Amt ?? Amt
  const execution = { transactionId: uetrOf(id), amount: minor, currency }
  const outcome: BankOutcome = { kind: CdtDbtInd === DEBIT ? 'executed' : 'returned', ...execution }
  return [{ id, outcome }]
}

const detailsIn = ({ NtryDtls }: Entry) => NtryDtls.flatMap(({ TxDtls }) => TxDtls)

/** The one payment of ours that a booked entry names: banks add references of their own. */
function paymentIn(entry: Entry): EffectId | undefined {
  const [details, ...others] = detailsIn(entry)
  if (entry.Sts.Cd !== BOOKED || others.length > 0) return undefined
  const { InstrId, EndToEndId, TxId, UETR } = details?.Refs ?? {}
  const named = [InstrId, EndToEndId, TxId].filter((id) => id !== undefined).filter(isEffectId)
  const id = named[0]
  if (id === undefined || named.some((other) => other !== id)) return undefined
  return UETR === undefined || UETR === uetrOf(id) ? id : undefined
}

const isCorrection = (entry: Entry): boolean =>
  (entry.RvslInd === 'true' || entry.RvslInd === '1') && detailsIn(entry)[0]?.RtrInf === undefined

const correctionsIn = ({ Ntry }: Pick<Notification, 'Ntry'>): readonly AlarmNotice[] =>
  Ntry.filter(isCorrection).flatMap((entry) => {
    const id = paymentIn(entry)
    return id === undefined ? [] : [notice('entry_corrected', id, entry.CdtDbtInd)]
  })

/** Stores the statement's number. @returns what an operator must know */
export async function noticesOf(
  statement: Statement,
  record: Record,
): Promise<readonly AlarmNotice[]> {
  const { Acct, ElctrncSeqNb } = statement
  const currency = Acct.Ccy ?? statement.Bal[0]?.Amt.currency ?? ''
  const missing = await missingBefore(statement, record, `${Acct.Id.Othr?.Id ?? ''} ${currency}`)
  const gaps = missing.map((code) => notice('statement_missing', currency, code))
  const notices = [...correctionsIn(statement), ...gaps]
  return isBalanced(statement)
    ? notices
    : [notice('statement_unbalanced', currency, ElctrncSeqNb ?? ''), ...notices]
}

/** Likewise, of a notification. */
export async function noticesOfNotification(
  notification: Notification,
  record: Record,
): Promise<readonly AlarmNotice[]> {
  const { Acct, Ntry } = notification
  const currency = Acct.Ccy ?? Ntry[0]?.Amt.currency ?? ''
  const series = `notifications ${Acct.Id.Othr?.Id ?? ''} ${currency}`
  const missing = await missingBefore(notification, record, series)
  const gaps = missing.map((code) => notice('notification_missing', currency, code))
  return [...correctionsIn(notification), ...gaps]
}

const notice = (kind: Alarm, subject: string, code: string): AlarmNotice => ({
  ...{ kind, subject, code },
})

/** The numbers of a series between the last one that came and this one, which is stored. */
async function missingBefore(
  { ElctrncSeqNb }: Pick<Notification, 'ElctrncSeqNb'>,
  record: Record,
  series: string,
): Promise<readonly string[]> {
  if (ElctrncSeqNb === undefined) return []
  const { missing } = await record.statement(series, Number(ElctrncSeqNb))
  return missing.map(String)
}

/** Whether the opening balance and the entries are the closing balance; true if it has not both. */
function isBalanced({ Bal, Ntry }: Statement): boolean {
  const balanceOf = (code: string): bigint | undefined => {
    const found = Bal.find(({ Tp }) => Tp.CdOrPrtry.Cd === code)
    return found && signed(found.Amt, found.CdtDbtInd)
  }
  const [opening, closing] = [balanceOf(OPENING), balanceOf(CLOSING)]
  if (opening === undefined || closing === undefined) return true
  const booked = Ntry.filter(({ Sts }) => Sts.Cd === BOOKED)
  return (
    booked.reduce((sum, { Amt, CdtDbtInd }) => sum + signed(Amt, CdtDbtInd), opening) === closing
  )
}

const signed = ({ minor }: Amount, direction: string): bigint =>
  direction === DEBIT ? -minor : minor
