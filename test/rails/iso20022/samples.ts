/** A message of each kind, as the adapter or the switch writes it. */
import { instant } from '../../../src/base/clock.js'
import type { EffectId } from '../../../src/base/ids.js'
import type { Message, MessageName } from '../../../src/rails/iso20022/messages.js'
import {
  agentOf,
  creditTransfer,
  originalOf,
  recallRequest,
  statusRequest,
  uetrOf,
  type Membership,
} from '../../../src/rails/iso20022/payment_messages.js'
import type { Amount } from '../../../src/rails/iso20022/shape.js'
import type { Instruction } from '../../../src/rails/rail.js'

export const US: Membership = {
  ...{ agent: 'CAUSEWAY', switch: 'SWITCH' },
  debtor: { name: 'Causeway Payments', account: '0000000001' },
}
export const AT = instant(Date.UTC(2026, 10, 24, 4, 15, 0, 123))
export const PAYOUT = 'pout_01KAJ0V8X00000000000000001' as EffectId
const INTENT = 'pi_01KAJ0V8X00000000000000002' as EffectId

export const TRANSFER: Instruction = {
  ...{ id: PAYOUT, environment: 'sandbox', purpose: 'payout', amount: 1_250_000n, currency: 'VND' },
  destination: {
    ...{ scheme: 'bank_account', country: 'VN', bankCode: '970436', account: '0071001234567' },
    ...{ accountType: '', reference1: '', reference2: '', name: 'Nguyễn Thị Lan & Söhne <A>' },
  },
  ...{ reference: 'invoice 2026-114', notAfter: null, hint: '' },
}
export const PROXY_TRANSFER: Instruction = {
  ...{ id: INTENT, environment: 'sandbox', purpose: 'qr_payment', amount: 25_000n },
  currency: 'THB',
  destination: {
    ...{ scheme: 'promptpay', country: 'TH', bankCode: '', account: '0812345678' },
    ...{ accountType: 'mobile', reference1: 'TABLE7', reference2: '', name: '' },
  },
  ...{ reference: '', notAfter: null, hint: '' },
}

const AT_TEXT = '2026-11-24T04:15:01.000Z'
const back = { from: US.switch, to: US.agent, createdAt: AT_TEXT }
const header = (id: string) => ({ MsgId: id, CreDtTm: AT_TEXT })
const VND = (minor: bigint) => ({ minor, currency: 'VND' })
const parties = { Assgnr: { Agt: agentOf(US.switch) }, Assgne: { Agt: agentOf(US.agent) } }

export function statusReport(
  TxSts: string,
  code?: string,
  amount: bigint | null = 1_250_000n,
  id: EffectId = PAYOUT,
): Message {
  const report = {
    ...{ ...originalOf(id), TxSts },
    StsRsnInf: code === undefined ? [] : [{ Rsn: { Cd: code }, AddtlInf: [] }],
    ...(amount === null ? {} : { OrgnlTxRef: { IntrBkSttlmAmt: VND(amount) } }),
  }
  return {
    ...{ name: 'pacs.002.001.11', ...back, id: 'S1' },
    body: { GrpHdr: header('S1'), OrgnlGrpInfAndSts: [], TxInfAndSts: [report] },
  }
}

export function resolution(status: string, code?: string): Message {
  const answer = {
    ...{ ...originalOf(PAYOUT), TxCxlSts: status },
    CxlStsRsnInf: code === undefined ? [] : [{ Rsn: { Cd: code } }],
  }
  return {
    ...{ name: 'camt.029.001.10', ...back, id: 'A1' },
    body: {
      Assgnmt: { Id: 'A1', ...parties, CreDtTm: AT_TEXT },
      Sts: { Conf: status === 'RJCR' ? 'RJCR' : 'CNCL' },
      CxlDtls: [{ TxInfAndSts: [answer] }],
    },
  }
}

export const SAMPLES: Readonly<Record<MessageName, Message>> = {
  'pacs.008.001.09': creditTransfer(TRANSFER, AT, US),
  'pacs.002.001.11': statusReport('ACSC'),
  'pacs.028.001.04': statusRequest(PAYOUT, AT, US),
  'pacs.004.001.10': {
    ...{ name: 'pacs.004.001.10', ...back, id: 'B1' },
    body: {
      GrpHdr: { ...header('B1'), NbOfTxs: '1', SttlmInf: { SttlmMtd: 'CLRG' } },
      TxInf: [
        {
          ...{ RtrId: 'B1', ...originalOf(PAYOUT), OrgnlIntrBkSttlmAmt: VND(1_250_000n) },
          ...{ RtrdIntrBkSttlmAmt: VND(1_250_000n), RtrRsnInf: [{ Rsn: { Cd: 'FOCR' } }] },
        },
      ],
    },
  },
  'camt.056.001.09': recallRequest(TRANSFER, AT, US),
  'camt.029.001.10': resolution('RJCR', 'CUST'),
  'camt.054.001.08': notification(PAYOUT, VND(1_250_000n), '1'),
  'camt.053.001.08': {
    ...{ name: 'camt.053.001.08', ...back, id: 'T1' },
    body: {
      GrpHdr: header('T1'),
      Stmt: [
        {
          ...{ Id: 'T1', ElctrncSeqNb: '1', CreDtTm: AT_TEXT },
          Acct: { Id: { Othr: { Id: US.debtor.account } }, Ccy: 'VND' },
          Bal: [balance('OPBD', 0n), balance('CLBD', 1_250_000n)],
          Ntry: [entryOf(PAYOUT, VND(1_250_000n))],
        },
      ],
    },
  },
  'admi.002.001.01': {
    ...{ name: 'admi.002.001.01', ...back, id: 'M1' },
    body: {
      RltdRef: { Ref: PAYOUT },
      Rsn: { RjctgPtyRsn: 'MALFORMED', RjctnDtTm: AT_TEXT, RsnDesc: 'CdtrAcct is missing' },
    },
  },
}

/** A booked debit of our account. */
export function notification(id: EffectId, amount: Amount, number: string): Message {
  const { account } = US.debtor
  const notified = {
    ...{ Id: 'N1', ElctrncSeqNb: number, CreDtTm: AT_TEXT },
    Acct: { Id: { Othr: { Id: account } }, Ccy: amount.currency },
    Ntry: [entryOf(id, amount)],
  }
  return {
    ...{ name: 'camt.054.001.08', ...back, id: 'N1' },
    body: { GrpHdr: header('N1'), Ntfctn: [notified] },
  }
}

function entryOf(id: EffectId, amount: Amount) {
  return {
    ...{ NtryRef: '1', Amt: amount, CdtDbtInd: 'DBIT', Sts: { Cd: 'BOOK' } },
    ...{ BookgDt: { DtTm: AT_TEXT }, BkTxCd: { Prtry: { Cd: 'PAYMENT' } } },
    NtryDtls: [{ TxDtls: [{ Refs: { InstrId: id, EndToEndId: id, UETR: uetrOf(id) } }] }],
  }
}

function balance(code: string, minor: bigint) {
  return {
    ...{ Tp: { CdOrPrtry: { Cd: code } }, Amt: VND(minor), CdtDbtInd: 'DBIT' },
    Dt: { Dt: '2026-11-24' },
  }
}
