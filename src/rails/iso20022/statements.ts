/**
 * Statements of our account at the switch: what they say of our payments, and whether one is
 * missing or does not add up.
 *
 * - Only booked entries about one payment count.
 * - An entry that debits us is an execution, one that credits us a return.
 */
import type { BankOutcome } from '../adapter/bank.js'
import { isEffectId } from '../wire_validators.js'
import type { MessageBody } from './messages.js'
import type { Said } from './outcome.js'
import { uetrOf } from './payment_messages.js'
import type { Alarm, Notice, Record } from './record.js'
import type { Amount } from './shape.js'

type Statement = MessageBody<'camt.053.001.08'>['Stmt'][number]
type Entry = Statement['Ntry'][number]

type AlarmNotice = Notice & { readonly kind: Alarm }

const BOOKED = 'BOOK'
const DEBIT = 'DBIT'
const OPENING = 'OPBD'
const CLOSING = 'CLBD'

export const saidInStatement = ({ Ntry }: Statement): readonly Said[] => Ntry.flatMap(saidInEntry)

function saidInEntry({ Sts, Amt, CdtDbtInd, NtryDtls }: Entry): readonly Said[] {
  const [details, ...others] = NtryDtls.flatMap(({ TxDtls }) => TxDtls)
  const { InstrId, EndToEndId, TxId, UETR } = details?.Refs ?? {}
  const id = InstrId ?? EndToEndId ?? TxId
  if (Sts.Cd !== BOOKED || others.length > 0 || id === undefined || !isEffectId(id)) return []
  const uetr = uetrOf(id)
  if (UETR !== undefined && UETR !== uetr) return []
  const execution = { transactionId: uetr, amount: Amt.minor, currency: Amt.currency }
  const outcome: BankOutcome = { kind: CdtDbtInd === DEBIT ? 'executed' : 'returned', ...execution }
  return [{ id, outcome }]
}

/** Stores the statement's number. @returns what an operator must know */
export async function noticesOf(
  statement: Statement,
  record: Record,
): Promise<readonly AlarmNotice[]> {
  const { Acct, ElctrncSeqNb } = statement
  const currency = Acct.Ccy ?? statement.Bal[0]?.Amt.currency ?? ''
  const notices: AlarmNotice[] = []
  if (!isBalanced(statement)) {
    notices.push({ kind: 'statement_unbalanced', subject: currency, code: ElctrncSeqNb ?? '' })
  }
  if (ElctrncSeqNb === undefined) return notices
  const account = `${Acct.Id.Othr?.Id ?? ''} ${currency}`
  const { missing } = await record.statement(account, Number(ElctrncSeqNb))
  for (const number of missing) {
    notices.push({ kind: 'statement_missing', subject: currency, code: String(number) })
  }
  return notices
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
