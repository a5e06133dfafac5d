/**
 * Statements of our account at the switch, and its notifications of single entries: what they say
 * of our payments, and whether one is missing or does not add up.
 *
 * Does not own: what an entry says (statement_entries), pages (statement_pages).
 *
 * - A payment that two statements book, or two pages of one, is told. A notification announces an
 *   entry that a statement books later, and a bank can repeat it: it is not compared.
 * - Statements and notifications are numbered apart, each account by itself. A notification has no
 *   balances.
 */
import type { MessageBody } from './messages.js'
import type { Alarm, Booking, Notice, Record, StatementFigures } from './record.js'
import {
  BOOKED,
  readEntries,
  repeatedNotice,
  signed,
  uetrsIn,
  type ReadEntries,
} from './statement_entries.js'
import { pageArrived, type Pagination } from './statement_pages.js'

type Statement = MessageBody<'camt.053.001.08'>['Stmt'][number]
type Notification = MessageBody<'camt.054.001.08'>['Ntfctn'][number]

/** The opening balance of the statement, or the closing balance of the one before. */
const OPENING = ['OPBD', 'PRCD']
const CLOSING = ['CLBD']

/**
 * Stores the statement's number and page.
 *
 * @param messagePage when the page is that of the message
 */
export async function readStatement(
  statement: Statement,
  messagePage: Pagination | undefined,
  record: Record,
): Promise<ReadEntries> {
  const { Acct, Bal, ElctrncSeqNb, Id, Ntry, StmtPgntn } = statement
  const currency = Acct.Ccy ?? Bal[0]?.Amt.currency ?? ''
  const balances = [balanceOf(statement, OPENING), balanceOf(statement, CLOSING)]
  const series = `${accountOf(Acct)} ${currency}`
  const pagination = StmtPgntn ?? messagePage
  const { missing, whole } = await arrivalOf(statement, record, {
    ...{ series, pagination },
    figures: figuresOf(statement),
  })
  const isRight =
    hasOneCurrency([...balances, ...bookedIn(statement)]) && (whole === undefined || addsUp(whole))
  const told = tellerOf(currency)
  const { saids, notices } = await entriesIn(Ntry, record)
  const page = JSON.stringify([series, ElctrncSeqNb ?? Id, pagination?.PgNb ?? '1'])
  const repeated = await record.booked(page, bookingsIn(saids))
  return {
    saids,
    notices: [
      ...(isRight ? [] : [told('statement_unbalanced', ElctrncSeqNb ?? '')]),
      ...notices,
      ...repeated.map(({ id }) => repeatedNotice(id)),
      ...missing.map((code) => told('statement_missing', code)),
    ],
  }
}

/** Likewise, of a notification. */
export async function readNotification(
  notification: Notification,
  messagePage: Pagination | undefined,
  record: Record,
): Promise<ReadEntries> {
  const { Acct, Ntry, NtfctnPgntn } = notification
  const currency = Acct.Ccy ?? Ntry[0]?.Amt.currency ?? ''
  const { missing } = await arrivalOf(notification, record, {
    series: `notifications ${accountOf(Acct)} ${currency}`,
    pagination: NtfctnPgntn ?? messagePage,
    figures: NO_FIGURES,
  })
  const { saids, notices } = await entriesIn(Ntry, record)
  const told = tellerOf(currency)
  const gaps = missing.map((code) => told('notification_missing', code))
  return { saids, notices: [...notices, ...gaps] }
}

const entriesIn = async (entries: Statement['Ntry'], record: Record): Promise<ReadEntries> =>
  readEntries(entries, await record.idsOf(uetrsIn(entries)))

const bookingsIn = (saids: ReadEntries['saids']): readonly Booking[] =>
  saids.flatMap(({ id, outcome: { kind } }) =>
    kind === 'executed' || kind === 'returned' ? [{ id, kind }] : [],
  )

const tellerOf =
  (subject: string) =>
  (kind: Alarm, code: string): Notice => ({ kind, subject, code })

const accountOf = ({ Id: { IBAN, Othr } }: Notification['Acct']): string => IBAN ?? Othr?.Id ?? ''

interface Arrived {
  readonly series: string
  readonly pagination: Pagination | undefined
  readonly figures: StatementFigures
}

/** The numbers and pages between those that came and this one, which is stored. */
async function arrivalOf(
  { ElctrncSeqNb, Id }: Pick<Notification, 'ElctrncSeqNb' | 'Id'>,
  record: Record,
  { series, pagination, figures }: Arrived,
) {
  const numbers =
    ElctrncSeqNb === undefined
      ? []
      : (await record.statement(series, Number(ElctrncSeqNb))).missing.map(String)
  const arrived = await pageArrived(record, series, ElctrncSeqNb ?? Id, pagination, figures)
  return { ...arrived, missing: [...numbers, ...arrived.missing] }
}

const NO_FIGURES: StatementFigures = { opening: null, moved: 0n, closing: null }

type Movement = Pick<Statement['Bal'][number], 'Amt' | 'CdtDbtInd'>

const balanceOf = ({ Bal }: Statement, codes: readonly string[]): Movement | undefined =>
  codes.flatMap((code) => Bal.find(({ Tp }) => Tp.CdOrPrtry.Cd === code) ?? [])[0]

const bookedIn = ({ Ntry }: Statement): Statement['Ntry'] =>
  Ntry.filter(({ Sts }) => Sts.Cd === BOOKED)

const sumOf = ({ Amt, CdtDbtInd }: Movement): bigint => signed(Amt, CdtDbtInd)

function figuresOf(statement: Statement): StatementFigures {
  const [opening, closing] = [balanceOf(statement, OPENING), balanceOf(statement, CLOSING)]
  return {
    opening: opening === undefined ? null : sumOf(opening),
    moved: bookedIn(statement).reduce((sum, entry) => sum + sumOf(entry), 0n),
    closing: closing === undefined ? null : sumOf(closing),
  }
}

const hasOneCurrency = (all: readonly (Movement | undefined)[]): boolean =>
  new Set(all.flatMap((each) => each?.Amt.currency ?? [])).size <= 1

/** Whether the opening balance and the entries are the closing balance; true if it has not both. */
const addsUp = ({ opening, moved, closing }: StatementFigures): boolean =>
  opening === null || closing === null || opening + moved === closing
