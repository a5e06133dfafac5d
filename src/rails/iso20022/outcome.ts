/**
 * What a message of the switch says about our payments.
 *
 * - Only a rejection of the payment itself is a refusal. "Not known" is `not_found` and "repeated"
 *   says nothing: either as a refusal would release money that may have moved.
 * - An answer to a status request refuses only with a reason that can be no other thing. Else the
 *   payment counts as not known: sent again after the finality window, with the same bytes, it is
 *   refused by an answer that cannot be misread, or recognized.
 * - "Not known" that comes by itself has the moment of the status request that it names: it can
 *   have been on its way for long. The adapter sets the moment of an answer to its call.
 * - The status of a whole message (`GrpSts`, `GrpCxlSts`) is that of its payment: a message of ours
 *   has one.
 * - An amount that is not told counts as instructed until a statement tells it.
 */
import type { EffectId } from '../../base/ids.js'
import type { BankOutcome } from '../adapter/bank.js'
import { isEffectId } from '../wire_validators.js'
import type { Message, MessageBody } from './messages.js'
import { statusRequestedAt, uetrOf } from './payment_messages.js'
import {
  ALREADY_RETURNED,
  isKnownRefusal,
  NOT_KNOWN,
  refusalOf,
  saysDuplicate,
} from './reason_codes.js'
import type { Amount } from './shape.js'

/** What the message answers; `nothing`: the switch sent it by itself. */
export type Answered = 'submit' | 'query' | 'recall' | 'nothing'

export interface Said {
  readonly id: EffectId
  readonly outcome: BankOutcome
  /** The network's code, for operators. */
  readonly code?: string
}

type Report = MessageBody<'pacs.002.001.11'>
type Status = Report['TxInfAndSts'][number]
type Return = MessageBody<'pacs.004.001.10'>['TxInf'][number]
type Resolution = MessageBody<'camt.029.001.10'>
type ResolutionDetails = Resolution['CxlDtls'][number]
type Reasons = readonly { readonly Rsn?: { readonly Cd?: string; readonly Prtry?: string } }[]

interface Original {
  readonly OrgnlInstrId?: string
  readonly OrgnlEndToEndId?: string
  readonly OrgnlTxId?: string
  readonly OrgnlUETR?: string
}

const ACCEPTED: BankOutcome = { kind: 'accepted' }
const EXECUTED = ['ACSC', 'ACCC']
const REJECTED = 'RJCT'
const STATUS_REQUEST = 'pacs.028'
const CREDIT_TRANSFER = 'pacs.008'

/** Status reports, returns and resolutions speak of payments; other messages do not. */
export function saidIn(message: Message, answered: Answered): readonly Said[] {
  switch (message.name) {
    case 'pacs.002.001.11':
      return statusesIn(message.body).flatMap((status) => ofStatus(status, answered))
    case 'pacs.004.001.10':
      return message.body.TxInf.flatMap(ofReturn)
    case 'camt.029.001.10':
      return ofResolution(message.body)
    default:
      return []
  }
}

/** A status of a payment itself is more exact than the one of its message. */
function statusesIn({ OrgnlGrpInfAndSts, TxInfAndSts }: Report): readonly Status[] {
  const own = TxInfAndSts.filter(({ TxSts }) => TxSts !== undefined)
  const ofMessages = OrgnlGrpInfAndSts.filter(
    ({ GrpSts, OrgnlMsgNmId }) => GrpSts !== undefined && OrgnlMsgNmId.startsWith(CREDIT_TRANSFER),
  ).map(({ OrgnlMsgId, GrpSts = '', StsRsnInf }) => ({
    ...{ OrgnlInstrId: OrgnlMsgId, TxSts: GrpSts, StsRsnInf },
  }))
  if (own.length > 0) return own
  return ofMessages.length > 0 ? ofMessages : TxInfAndSts
}

function ofStatus(status: Status, answered: Answered): readonly Said[] {
  const id = idIn(status)
  if (id === undefined) return []
  const code = codeIn(status.StsRsnInf)
  const told = code === undefined ? {} : { code }
  if (EXECUTED.includes(status.TxSts ?? '')) {
    const amount = amountIn(status.OrgnlTxRef?.IntrBkSttlmAmt)
    return [{ id, outcome: { kind: 'executed', transactionId: uetrOf(id), ...amount }, ...told }]
  }
  if (status.TxSts !== REJECTED) return [{ id, outcome: ACCEPTED, ...told }]
  const isOfQuery = status.OrgnlGrpInf?.OrgnlMsgNmId.startsWith(STATUS_REQUEST) ?? false
  const outcome = rejection(code, isOfQuery || answered === 'query')
  return [{ id, outcome: outcome ?? notKnown(status, id), ...told }]
}

/** Undefined means that the bank does not know the payment. */
function rejection(code: string | undefined, isOfQuery: boolean): BankOutcome | undefined {
  if (saysDuplicate(code)) return ACCEPTED
  if (code === NOT_KNOWN || (isOfQuery && !isKnownRefusal(code))) return undefined
  return { kind: 'refused', refusal: refusalOf(code) }
}

function notKnown({ OrgnlGrpInf }: Status, id: EffectId): BankOutcome {
  const askedAt = OrgnlGrpInf && statusRequestedAt(OrgnlGrpInf.OrgnlMsgId, id)
  return { kind: 'not_found', ...(askedAt === undefined ? {} : { askedAt }) }
}

function ofReturn(given: Return): readonly Said[] {
  const id = idIn(given)
  if (id === undefined) return []
  const code = codeIn(given.RtrRsnInf)
  const amount = amountIn(given.RtrdIntrBkSttlmAmt)
  const outcome: BankOutcome = { kind: 'returned', transactionId: uetrOf(id), ...amount }
  return [{ id, outcome, ...(code === undefined ? {} : { code }) }]
}

const RECALL_REFUSED = 'RJCR'

/** The money of an agreed recall comes as a return. */
function ofResolution({ CxlDtls }: Resolution): readonly Said[] {
  return CxlDtls.flatMap(answersIn).flatMap((answer): readonly Said[] => {
    const id = idIn(answer)
    if (id === undefined) return []
    const code = codeIn(answer.CxlStsRsnInf)
    const isRefused =
      answer.TxCxlSts === RECALL_REFUSED && code !== ALREADY_RETURNED && code !== NOT_KNOWN
    const outcome: BankOutcome = isRefused ? { kind: 'recall_refused' } : ACCEPTED
    return [{ id, outcome, ...(code === undefined ? {} : { code }) }]
  })
}

function answersIn({
  OrgnlGrpInfAndSts: group,
  TxInfAndSts,
}: ResolutionDetails): ResolutionDetails['TxInfAndSts'] {
  const { GrpCxlSts, OrgnlMsgNmId = '' } = group ?? {}
  const isOfGroup = TxInfAndSts.length === 0 && OrgnlMsgNmId.startsWith(CREDIT_TRANSFER)
  if (group === undefined || GrpCxlSts === undefined || !isOfGroup) return TxInfAndSts
  const { OrgnlMsgId: OrgnlInstrId, CxlStsRsnInf } = group
  return [{ OrgnlInstrId, TxCxlSts: GrpCxlSts, CxlStsRsnInf }]
}

/** Undefined means that it is no payment of ours, or that two references contradict each other. */
function idIn(original: Original): EffectId | undefined {
  const { OrgnlInstrId, OrgnlEndToEndId, OrgnlTxId, OrgnlUETR } = original
  const named = [OrgnlInstrId, OrgnlEndToEndId, OrgnlTxId].filter((id) => id !== undefined)
  const id = named[0]
  if (id === undefined || !isEffectId(id) || named.some((other) => other !== id)) return undefined
  return OrgnlUETR === undefined || OrgnlUETR === uetrOf(id) ? id : undefined
}

function codeIn(reasons: Reasons): string | undefined {
  const [code] = reasons.flatMap(({ Rsn }) => Rsn?.Cd ?? Rsn?.Prtry ?? [])
  return code
}

const amountIn = (amount: Amount | undefined) =>
  amount === undefined ? {} : { amount: amount.minor, currency: amount.currency }
