/**
 * The messages that we send about a payment: credit transfer, status request, recall.
 *
 * Does not own: their form (messages, codec), when they are sent (bank).
 *
 * - A repeated credit transfer or recall has the same bytes: every part follows from the
 *   instruction and from a moment that is stored before the message is first sent.
 * - The payment has our instruction id in every message, and a UETR that follows from it.
 */
import { hash } from 'node:crypto'
import { instant, toRfc3339, type Instant } from '../../base/clock.js'
import type { EffectId } from '../../base/ids.js'
import type { Instruction, RailDestination } from '../rail.js'
import type { Message, MessageBody } from './messages.js'

/** Who we are on the network. */
export interface Membership {
  /** Our member id. */
  readonly agent: string
  /** The member id of the switch. */
  readonly switch: string
  readonly debtor: { readonly name: string; readonly account: string }
}

type CreditTransfer = MessageBody<'pacs.008.001.09'>['CdtTrfTxInf'][number]

/** @param at when the instruction was received: stored, so each repetition has it */
export function creditTransfer(instruction: Instruction, at: Instant, us: Membership): Message {
  const { id, amount, currency, destination } = instruction
  const createdAt = toRfc3339(at)
  const { creditorAgent, account } = creditorOf(destination, us)
  const references = referencesOf(instruction)
  const transfer: CreditTransfer = {
    PmtId: { InstrId: id, EndToEndId: id, TxId: id, UETR: uetrOf(id) },
    PmtTpInf: { SvcLvl: [{ Prtry: 'INST' }] },
    IntrBkSttlmAmt: { minor: amount, currency },
    AccptncDtTm: createdAt,
    ChrgBr: 'SLEV',
    ...{ InstgAgt: agentOf(us.agent), InstdAgt: agentOf(us.switch) },
    ...{ Dbtr: { Nm: us.debtor.name }, DbtrAcct: accountOf(us.debtor.account) },
    ...{ DbtrAgt: agentOf(us.agent), CdtrAgt: agentOf(creditorAgent) },
    Cdtr: destination.name.trim() === '' ? {} : { Nm: cut(destination.name) },
    CdtrAcct: account,
    ...(references.length === 0 ? {} : { RmtInf: { Ustrd: references } }),
  }
  const header = { MsgId: id, CreDtTm: createdAt, NbOfTxs: '1', SttlmInf: { SttlmMtd: 'CLRG' } }
  const body = { GrpHdr: header, CdtTrfTxInf: [transfer] }
  return { name: 'pacs.008.001.09', ...headOf(id, createdAt, us), body }
}

const MOMENT_DIGITS = 8
const RADIX = 36

const statusRequestIdOf = (id: EffectId, at: Instant): string =>
  `Q${tailOf(id)}${at.toString(RADIX).slice(-MOMENT_DIGITS)}`

/** When the status request with this id was made, if it is one about this payment. */
export function statusRequestedAt(messageId: string, id: EffectId): Instant | undefined {
  const at = instant(parseInt(messageId.slice(-MOMENT_DIGITS), RADIX))
  return at > 0 && statusRequestIdOf(id, at) === messageId ? at : undefined
}

/** @param at of this request: each has an id of its own */
export function statusRequest(id: EffectId, at: Instant, us: Membership): Message {
  const createdAt = toRfc3339(at)
  const messageId = statusRequestIdOf(id, at)
  const body = {
    GrpHdr: { MsgId: messageId, CreDtTm: createdAt },
    TxInf: [{ StsReqId: messageId, ...originalOf(id) }],
  }
  return { name: 'pacs.028.001.04', ...headOf(messageId, createdAt, us), body }
}

/** The id of the only recall of a payment. */
export const recallIdOf = (id: EffectId): string => `R${tailOf(id)}`

/** @param at when the recall was first sent: stored */
export function recallRequest(
  { id, amount, currency }: Pick<Instruction, 'id' | 'amount' | 'currency'>,
  at: Instant,
  us: Membership,
): Message {
  const createdAt = toRfc3339(at)
  const recallId = recallIdOf(id)
  const parties = { Assgnr: { Agt: agentOf(us.agent) }, Assgne: { Agt: agentOf(us.switch) } }
  const request = {
    ...{ CxlId: recallId, ...originalOf(id), OrgnlIntrBkSttlmAmt: { minor: amount, currency } },
    CxlRsnInf: [{ Rsn: { Cd: 'CUST' } }],
  }
  const body = {
    Assgnmt: { Id: recallId, ...parties, CreDtTm: createdAt },
    Undrlyg: [{ TxInf: [request] }],
  }
  return { name: 'camt.056.001.09', ...headOf(recallId, createdAt, us), body }
}

const headOf = (id: string, createdAt: string, us: Membership) => ({
  ...{ from: us.agent, to: us.switch, id, createdAt },
})

/** The references of a payment in messages about it. */
export const originalOf = (id: EffectId) => ({
  ...{ OrgnlInstrId: id, OrgnlEndToEndId: id, OrgnlTxId: id, OrgnlUETR: uetrOf(id) },
})

/** In the form of a random UUID, of the id alone. */
export function uetrOf(id: string): string {
  const digits = hash('sha256', `UETR ${id}`)
  const variant = ((parseInt(digits[16] ?? '0', 16) & 3) | 8).toString(16)
  const tail = digits.slice(17, 20)
  return [
    ...[digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`],
    ...[variant + tail, digits.slice(20, 32)],
  ].join('-')
}

/** The part of an id after its prefix. */
const tailOf = (id: EffectId): string => id.slice(id.indexOf('_') + 1)

export const agentOf = (member: string) => ({ FinInstnId: { ClrSysMmbId: { MmbId: member } } })
const accountOf = (account: string) => ({ Id: { Othr: { Id: account } } })

/** Accounts that are names for an account elsewhere. */
const PROXIES: Readonly<Record<string, string>> = {
  ...{ mobile: 'MSISDN', national_id: 'NATID', ewallet: 'EWALLETID', biller: 'BILLERID' },
  ...{ card: 'CARD', merchant: 'MERCHANT' },
}

/** The switch finds the bank of a proxy. */
function creditorOf(destination: RailDestination, us: Membership) {
  const { account, accountType, bankCode } = destination
  const creditorAgent = bankCode === '' ? us.switch : bankCode
  const proxy = PROXIES[accountType]
  if (proxy === undefined) return { creditorAgent, account: accountOf(account) }
  return { creditorAgent, account: { Prxy: { Tp: { Prtry: proxy }, Id: account } } }
}

const REMITTANCE_MAX = 140

function referencesOf({ purpose, reference, destination }: Instruction): readonly string[] {
  const { reference1, reference2 } = destination
  const given = purpose === 'payout' ? [reference] : [reference1, reference2]
  return given.filter((text) => text.trim() !== '').map(cut)
}

const cut = (text: string): string => [...text].slice(0, REMITTANCE_MAX).join('')
