/**
 * What the entries of a statement or a notification say of our payments.
 *
 * Does not own: numbers, pages and balances (statements), what is stored (adapter).
 *
 * - Only booked entries count, and of a batch entry each part that names a payment of ours.
 * - A payment is named by its id, or by the UETR that was sent with it. A debit with a UETR that is
 *   not known, and without another reference of its sender, is told.
 * - A debit is an execution, a credit a return. Its amount is that of the payment, apart from
 *   charges.
 * - A charge is neither, also with the references of the payment.
 * - A correction of another entry says nothing: the bank can have booked a payment twice, and the
 *   credit is then no return. With a return's reason it is a return.
 * - An entry that names a payment of ours and cannot be understood says nothing. An operator is
 *   told of it.
 */
import type { EffectId } from '../../base/ids.js'
import { isEffectId } from '../wire_validators.js'
import type { MessageBody } from './messages.js'
import type { Said } from './outcome.js'
import { uetrOf } from './payment_messages.js'
import type { Notice } from './record.js'
import type { Amount } from './shape.js'

export type Entry = MessageBody<'camt.054.001.08'>['Ntfctn'][number]['Ntry'][number]
/** Those of an entry, or of one part of a batch entry. */
type Details = Entry['NtryDtls'][number]['TxDtls'][number]

export interface ReadEntries {
  readonly saids: readonly Said[]
  readonly notices: readonly Notice[]
}

interface Moved {
  readonly id: EffectId
  readonly kind: 'executed' | 'returned'
  readonly amount: Amount
}

type Reading = { readonly moved: Moved } | { readonly notice: Notice }

/** Why an entry that names a payment of ours says nothing. The guide explains them. */
type UnclearCode =
  'amount' | 'direction' | 'parts' | 'references' | 'repeated' | 'status' | 'uetr' | 'zero'

/** The payments of UETRs that entries have. */
export type IdsByUetr = ReadonlyMap<string, EffectId>

export const BOOKED = 'BOOK'
export const DEBIT = 'DBIT'

/** UETRs of entries that do not name a payment by its id. */
export const uetrsIn = (entries: readonly Entry[]): readonly string[] =>
  entries
    .flatMap(({ NtryDtls }) => NtryDtls.flatMap(({ TxDtls }) => TxDtls))
    .flatMap(({ Refs }) => (Refs?.UETR === undefined || ownIn(Refs).length > 0 ? [] : Refs.UETR))

export function readEntries(entries: readonly Entry[], ids: IdsByUetr): ReadEntries {
  const readings = entries.flatMap((entry) => readEntry(entry, ids))
  const moved = readings.flatMap((reading) => ('moved' in reading ? [reading.moved] : []))
  const notices = readings.flatMap((reading) => ('notice' in reading ? [reading.notice] : []))
  const { saids, notices: repeated } = withoutRepetitions(moved)
  return { saids, notices: [...notices, ...repeated] }
}

function readEntry(entry: Entry, ids: IdsByUetr): readonly Reading[] {
  const parts = entry.NtryDtls.flatMap(({ TxDtls }) => TxDtls)
  if (parts.length < 2) {
    const [details = {}] = parts
    return readPart(entry, details, singleAmount(entry, details), ids)
  }
  const isWhole = addsUp(entry, parts)
  return parts.flatMap((part) =>
    readPart(entry, part, (isWhole ? statedIn(part) : undefined) ?? 'parts', ids),
  )
}

function readPart(
  entry: Entry,
  details: Details,
  amount: Amount | UnclearCode,
  ids: IdsByUetr,
): readonly Reading[] {
  const { Cd: status } = entry.Sts
  if (status !== undefined && status !== BOOKED) return []
  const reference = referenceIn(details, ids)
  if (reference === undefined) return unknownUetr(entry, details)
  const { id, text } = reference
  if (status === undefined) return [unclear(text, 'status')]
  if (id === undefined) return [unclear(text, 'references')]
  const charge = chargeCodeIn(entry, details)
  if (charge !== undefined) return [{ notice: { kind: 'charge', subject: id, code: charge } }]
  const direction = directionOf(entry, details)
  if (isCorrection(entry, details)) {
    return [{ notice: { kind: 'entry_corrected', subject: id, code: direction } }]
  }
  if (typeof amount === 'string') return [unclear(id, amount)]
  if (amount.minor <= 0n) return [unclear(id, 'zero')]
  return [{ moved: { id, kind: direction === DEBIT ? 'executed' : 'returned', amount } }]
}

const unclear = (subject: string, code: UnclearCode): Reading => ({
  notice: { kind: 'entry_unclear', subject, code },
})

interface Reference {
  readonly text: string
  /** Absent if the references were cut or contradict each other. */
  readonly id?: EffectId
}

/** An id of ours that was cut. */
const CUT_ID = /^(?:pout|pi)_[0-9A-HJKMNP-TV-Z]{1,25}$/

type References = NonNullable<Details['Refs']>

const namedIn = ({ InstrId, EndToEndId, TxId }: References): readonly string[] =>
  [InstrId, EndToEndId, TxId].filter((text) => text !== undefined)

const ownIn = (references: References): readonly EffectId[] =>
  namedIn(references).filter(isEffectId)

/** What names a payment of ours: banks add references of their own. */
function referenceIn({ Refs = {} }: Details, ids: IdsByUetr): Reference | undefined {
  const { UETR } = Refs
  const [id, ...others] = ownIn(Refs)
  if (id === undefined) {
    const cut = namedIn(Refs).find((text) => CUT_ID.test(text))
    const sent = UETR === undefined ? undefined : ids.get(UETR)
    if (sent !== undefined && sent.startsWith(cut ?? '')) return { text: sent, id: sent }
    return cut === undefined ? undefined : { text: cut }
  }
  const isOne = others.every((other) => other === id) && (UETR === undefined || UETR === uetrOf(id))
  return isOne ? { text: id, id } : { text: id }
}

/** As the standard has it where the sender gave no reference. */
const NOT_PROVIDED = 'NOTPROVIDED'

/** A credit with an unknown UETR is the payment of another one to us. */
function unknownUetr(entry: Entry, details: Details): readonly Reading[] {
  const { UETR, EndToEndId = NOT_PROVIDED } = details.Refs ?? {}
  const isOfOurs = EndToEndId === NOT_PROVIDED && directionOf(entry, details) === DEBIT
  const isPayment = chargeCodeIn(entry, details) === undefined && !isCorrection(entry, details)
  return UETR !== undefined && isOfOurs && isPayment ? [unclear(UETR, 'uetr')] : []
}

/** Sub-families of bank transaction codes: charges, commissions, fees, interest and taxes. */
const CHARGES = ['CHRG', 'COMM', 'COME', 'COMI', 'COMT', 'FEES', 'INTR', 'TAXE']

const chargeCodeIn = (entry: Entry, { BkTxCd = entry.BkTxCd }: Details): string | undefined =>
  CHARGES.find((code) => code === BkTxCd.Domn?.Fmly?.SubFmlyCd)

const directionOf = (entry: Entry, { CdtDbtInd = entry.CdtDbtInd }: Details): string => CdtDbtInd

const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1'

const isCorrection = ({ RvslInd }: Entry, { RtrInf }: Details): boolean =>
  isTrue(RvslInd) && RtrInf === undefined

const statedIn = ({ Amt, AmtDtls }: Details): Amount | undefined => Amt ?? AmtDtls?.TxAmt?.Amt

/** The amount of the payment in an entry about one payment. */
function singleAmount(entry: Entry, details: Details): Amount | UnclearCode {
  if (directionOf(entry, details) !== entry.CdtDbtInd) return 'direction'
  const stated = statedIn(details)
  const own = withoutCharges(entry, details)
  if (stated === undefined) return own
  if (stated.currency !== own.currency) return stated
  if (stated.minor === entry.Amt.minor) return own
  // The details can repeat the payment beside an entry that is not about all of it.
  return stated.minor > own.minor ? 'amount' : stated
}

/** The entry's amount without the charges that it says to include. */
function withoutCharges({ Amt, CdtDbtInd, Chrgs }: Entry, details: Details): Amount {
  const { Rcrd: records } = Chrgs ?? details.Chrgs ?? { Rcrd: [] }
  const charges = records
    .filter((record) => isTrue(record.ChrgInclInd) && record.Amt.currency === Amt.currency)
    .reduce((sum, record) => sum - signed(record.Amt, record.CdtDbtInd ?? DEBIT), 0n)
  return { ...Amt, minor: CdtDbtInd === DEBIT ? Amt.minor - charges : Amt.minor + charges }
}

/** Whether the parts of a batch entry are its amount, with or without charges. */
function addsUp(entry: Entry, parts: readonly Details[]): boolean {
  let sum = 0n
  for (const part of parts) {
    const stated = statedIn(part)
    if (stated?.currency !== entry.Amt.currency) return false
    sum += directionOf(entry, part) === entry.CdtDbtInd ? stated.minor : -stated.minor
  }
  return sum === entry.Amt.minor || sum === withoutCharges(entry, {}).minor
}

/** @param direction of our account: a debit is negative */
export const signed = ({ minor }: Amount, direction: string): bigint =>
  direction === DEBIT ? -minor : minor

/**
 * A payment is executed once and returned once. Equal repetitions say it once; of different ones
 * none is known to be the payment.
 */
function withoutRepetitions(all: readonly Moved[]): ReadEntries {
  const byMovement = new Map<string, Moved[]>()
  for (const moved of all) {
    const key = `${moved.id} ${moved.kind}`
    const same = byMovement.get(key)
    if (same === undefined) byMovement.set(key, [moved])
    else same.push(moved)
  }
  const saids: Said[] = []
  const notices: Notice[] = []
  for (const [first, ...others] of byMovement.values()) {
    if (first === undefined) continue
    if (others.every(({ amount }) => isEqual(amount, first.amount))) saids.push(saidOf(first))
    if (others.length > 0) {
      notices.push(repeatedNotice(first.id))
    }
  }
  return { saids, notices }
}

/** The payment is booked more than once. */
export const repeatedNotice = (subject: string): Notice => ({
  kind: 'entry_unclear',
  subject,
  code: 'repeated',
})

const isEqual = (one: Amount, other: Amount): boolean =>
  one.minor === other.minor && one.currency === other.currency

const saidOf = ({ id, kind, amount: { minor, currency } }: Moved): Said => ({
  id,
  outcome: { kind, transactionId: uetrOf(id), amount: minor, currency },
})
