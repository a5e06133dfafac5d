/**
 * The messages of the switch about a payment and its statements.
 *
 * Does not own: which one is sent when (switch).
 */
import { toRfc3339, type Instant } from '../../base/clock.js'
import type { EffectId } from '../../base/ids.js'
import type { Message } from '../iso20022/messages.js'
import { agentOf, originalOf, uetrOf } from '../iso20022/payment_messages.js'
import type { Amount } from '../iso20022/shape.js'
import type { IssuedStatement, Movement, SwitchPayment } from './switch_log.js'

export interface Issuer {
  /** The member ids of the switch and of the adapter. */
  readonly own: string
  readonly peer: string
  readonly account: string
  /** A new message id, at most 35 characters. */
  readonly newId: () => string
  readonly now: () => Instant
}

interface Head {
  readonly id: string
  readonly at: string
  readonly message: Pick<Message, 'from' | 'to' | 'id' | 'createdAt'>
}

function headOf({ own, peer, newId, now }: Issuer): Head {
  const [id, at] = [newId(), toRfc3339(now())]
  return { id, at, message: { from: own, to: peer, id, createdAt: at } }
}

export interface StatusOptions {
  readonly code?: string
  readonly amount?: Amount
  /** The status request that it answers. */
  readonly request?: string
}

export function statusReport(
  issuer: Issuer,
  id: EffectId,
  TxSts: string,
  { code, amount, request }: StatusOptions,
): Message {
  const head = headOf(issuer)
  const report = {
    StsId: head.id,
    ...(request === undefined
      ? {}
      : { OrgnlGrpInf: { OrgnlMsgId: request, OrgnlMsgNmId: 'pacs.028.001.04' } }),
    ...{ ...originalOf(id), TxSts },
    StsRsnInf: code === undefined ? [] : [{ Rsn: { Cd: code }, AddtlInf: [] }],
    ...(amount === undefined ? {} : { OrgnlTxRef: { IntrBkSttlmAmt: amount } }),
  }
  const header = { MsgId: head.id, CreDtTm: head.at }
  const body = { GrpHdr: header, OrgnlGrpInfAndSts: [], TxInfAndSts: [report] }
  return { name: 'pacs.002.001.11', ...head.message, body }
}

export function paymentReturn(issuer: Issuer, { id, currency, returned }: SwitchPayment): Message {
  const head = headOf(issuer)
  const minor = BigInt(returned?.amount ?? '0')
  const given = {
    ...{ RtrId: head.id, ...originalOf(id as EffectId), RtrdIntrBkSttlmAmt: { minor, currency } },
    RtrRsnInf: [{ Rsn: { Cd: 'FOCR' } }],
  }
  const settled = { NbOfTxs: '1', SttlmInf: { SttlmMtd: 'CLRG' } }
  const header = { MsgId: head.id, CreDtTm: head.at, ...settled }
  return { name: 'pacs.004.001.10', ...head.message, body: { GrpHdr: header, TxInf: [given] } }
}

export function recallAnswer(
  issuer: Issuer,
  id: EffectId,
  status: 'ACCR' | 'RJCR',
  code?: string,
): Message {
  const head = headOf(issuer)
  const answer = {
    ...{ CxlStsId: head.id, ...originalOf(id), TxCxlSts: status },
    CxlStsRsnInf: code === undefined ? [] : [{ Rsn: { Cd: code } }],
  }
  const parties = { Assgnr: { Agt: agentOf(issuer.own) }, Assgne: { Agt: agentOf(issuer.peer) } }
  const body = {
    Assgnmt: { Id: head.id, ...parties, CreDtTm: head.at },
    Sts: { Conf: status === 'ACCR' ? 'CNCL' : 'RJCR' },
    CxlDtls: [{ TxInfAndSts: [answer] }],
  }
  return { name: 'camt.029.001.10', ...head.message, body }
}

export function messageReject(issuer: Issuer, reference: string, reason: string): Message {
  const head = headOf(issuer)
  const body = {
    RltdRef: { Ref: reference },
    Rsn: { RjctgPtyRsn: reason, RjctnDtTm: head.at },
  }
  return { name: 'admi.002.001.01', ...head.message, body }
}

export interface StatementEntry {
  readonly id: string
  readonly movement: Movement
  readonly isReturn: boolean
}

/** @param opening the closing balance of the one before, minor units */
export function statement(
  issuer: Issuer,
  { currency, number, closing }: IssuedStatement,
  opening: bigint,
  entries: readonly StatementEntry[],
): Message {
  const head = headOf(issuer)
  const balance = (code: string, sum: bigint) => ({
    Tp: { CdOrPrtry: { Cd: code } },
    Amt: { minor: sum < 0n ? -sum : sum, currency },
    CdtDbtInd: sum < 0n ? 'DBIT' : 'CRDT',
    Dt: { DtTm: head.at },
  })
  const issued = {
    ...{ Id: head.id, ElctrncSeqNb: String(number), CreDtTm: head.at },
    Acct: { Id: { Othr: { Id: issuer.account } }, Ccy: currency },
    Bal: [balance('OPBD', opening), balance('CLBD', BigInt(closing))],
    Ntry: entries.map((entry) => entryOf(entry, currency)),
  }
  const body = { GrpHdr: { MsgId: head.id, CreDtTm: head.at }, Stmt: [issued] }
  return { name: 'camt.053.001.08', ...head.message, body }
}

function entryOf({ id, movement, isReturn }: StatementEntry, currency: string) {
  const { number, at, amount } = movement
  const details = {
    Refs: { InstrId: id, EndToEndId: id, UETR: uetrOf(id), TxId: id },
    ...(isReturn ? { RtrInf: { Rsn: { Cd: 'FOCR' } } } : {}),
  }
  return {
    ...{ NtryRef: String(number), Amt: { minor: BigInt(amount), currency } },
    ...{ CdtDbtInd: isReturn ? 'CRDT' : 'DBIT', Sts: { Cd: 'BOOK' } },
    BookgDt: { DtTm: toRfc3339(at as Instant) },
    BkTxCd: { Prtry: { Cd: isReturn ? 'RETURN' : 'PAYMENT' } },
    NtryDtls: [{ TxDtls: [details] }],
  }
}
