/**
 * A switch that speaks ISO 20022, as the four functions of a bank.
 *
 * Does not own: when it is called and what is stored (adapter), what a message means (outcome),
 * how it travels (transport).
 *
 * - A message whose signature, form, sender or receiver is wrong says nothing: the outcome stays
 *   unknown. So does the rejection of a message (admi.002), which is a fault of a program.
 * - Logs and notices have ids and codes, never accounts, names or keys.
 */
import type { Clock, Instant } from '../../base/clock.js'
import type { EffectId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { Bank, BankOutcome, BankReceiver } from '../adapter/bank.js'
import type { Instruction } from '../rail.js'
import { MESSAGE_BOUNDS, readMessage, STATEMENT_BOUNDS, writeMessage } from './codec.js'
import type { ReadMembership } from './membership_file.js'
import type { Message, MessageBody } from './messages.js'
import { saidIn, type Answered, type Said } from './outcome.js'
import { creditTransfer, recallIdOf, recallRequest, statusRequest } from './payment_messages.js'
import { ALREADY_RETURNED, NO_FUNDS } from './reason_codes.js'
import { ALARMS, type Alarm, type Notice, type Record } from './record.js'
import type { ReadEntries } from './statement_entries.js'
import type { Pagination } from './statement_pages.js'
import { readNotification, readStatement } from './statements.js'
import {
  createSender,
  openReceiver,
  SignatureFault,
  type Receiver,
  type Reply,
} from './transport.js'
import { MessageFault, type XmlBounds } from './xml.js'

const ISO20022_RAIL = 'iso20022'

export interface IsoBankOptions {
  readonly us: ReadMembership
  readonly record: Record
  readonly clock: Clock
  readonly log: Logger
  readonly onAlarm: (kind: Alarm) => void
}

export interface IsoBank extends Bank {
  /** After `listen`: where messages are taken. */
  address(): string
  close(): Promise<void>
}

const TAKEN: Reply = { status: 204 }
const NOT_TAKEN: Reply = { status: 400 }

export function createIsoBank(options: IsoBankOptions): IsoBank {
  const { us, record, clock, log, onAlarm } = options
  const sender = createSender(us.sendTo, us)
  let receiver: Receiver | undefined
  return {
    ...{ name: ISO20022_RAIL, finalityWindowMs: us.finalityWindowMs },
    ...{ submit, query, recall, listen },
    address: () => receiver?.address ?? '',
    close: async () => {
      sender.close()
      await receiver?.close()
    },
  }

  async function submit(instruction: Instruction, receivedAt: Instant): Promise<BankOutcome> {
    const { id, environment } = instruction
    const body = environment === us.environment ? transferOf(instruction, receivedAt) : undefined
    if (body === undefined) return { kind: 'refused', refusal: 'rejected' }
    record.sent(id)
    return (await ask(id, body, 'submit')).outcome
  }

  /** Undefined if the network has no message for it: it was never sent and never will be. */
  function transferOf(instruction: Instruction, receivedAt: Instant): Buffer | undefined {
    try {
      return writeMessage(creditTransfer(instruction, receivedAt, us))
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error
      log.error(
        { instruction_id: instruction.id, fault: error.message },
        'no message of the network can carry the payment',
      )
      return undefined
    }
  }

  async function query({ id }: Pick<Instruction, 'id'>): Promise<BankOutcome> {
    const body = writeMessage(statusRequest(id, clock.now(), us))
    return (await ask(id, body, 'query')).outcome
  }

  async function recall(instruction: Instruction): Promise<BankOutcome> {
    const at = await record.firstSent(recallIdOf(instruction.id))
    const body = writeMessage(recallRequest(instruction, at, us))
    const { outcome, code } = await ask(instruction.id, body, 'recall')
    return code === ALREADY_RETURNED ? query(instruction) : outcome
  }

  /** @throws Error when the answer says nothing of the payment */
  async function ask(id: EffectId, body: Buffer, answered: Answered): Promise<Said> {
    const answer = await sender.send(body).catch(async (error: unknown) => {
      if (error instanceof SignatureFault) await alarm('signature_invalid', id, answered)
      throw error
    })
    if (answer === undefined) return { id, outcome: { kind: 'accepted' } }
    const message = await messageIn(answer, MESSAGE_BOUNDS)
    if (message.name === 'admi.002.001.01') {
      await tellRejected(message.body)
      throw new Error('the switch rejected the message')
    }
    const said = saidIn(message, answered).find((each) => each.id === id)
    if (said === undefined) throw new Error('the answer says nothing of the payment')
    await tell(said)
    return said
  }

  /** @throws MessageFault when it is not a message of the switch to us */
  async function messageIn(body: Buffer, bounds: XmlBounds): Promise<Message> {
    try {
      const message = readMessage(body, bounds)
      if (message.from === us.switch && message.to === us.agent) return message
      throw new MessageFault('the message is of another sender, or to another receiver')
    } catch (error) {
      const fault = error instanceof MessageFault ? error.message : 'fault'
      await alarm('message_malformed', 'message', fault)
      throw error
    }
  }

  /** Before the outcome is stored: a code that is told twice is one notice. */
  async function tell({ id, outcome, code }: Said): Promise<void> {
    if (outcome.kind !== 'refused') return
    const { refusal } = outcome
    if (code === NO_FUNDS) await alarm('no_funds', id, code)
    log.warn({ instruction_id: id, refusal, reason_code: code }, 'the bank refused the payment')
    await record.note({ kind: 'refusal', subject: id, code: code ?? '' })
  }

  function tellRejected({ RltdRef, Rsn }: MessageBody<'admi.002.001.01'>): Promise<void> {
    return alarm('message_rejected', RltdRef.Ref, Rsn.RjctgPtyRsn)
  }

  async function alarm(kind: Alarm, subject: string, code: string): Promise<void> {
    onAlarm(kind)
    log.error({ notice: kind, subject, reason_code: code }, 'an operator must look at the rail')
    await record.note({ kind, subject, code })
  }

  async function listen(receive: BankReceiver): Promise<void> {
    receiver = await openReceiver({
      ...us,
      address: us.listen,
      take: (body) => take(body, receive),
      onRefused: (fault) => void tellRefused(fault).catch(() => undefined),
    })
    log.info({ address: receiver.address }, 'listening for the switch')
  }

  function tellRefused(fault: 'unsigned' | 'too_large'): Promise<void> {
    return fault === 'unsigned'
      ? alarm('signature_invalid', 'message', '')
      : alarm('message_malformed', 'message', 'the message is too large')
  }

  async function take(body: Buffer, receive: BankReceiver): Promise<Reply> {
    let message: Message
    try {
      message = await messageIn(body, STATEMENT_BOUNDS)
    } catch {
      return NOT_TAKEN
    }
    switch (message.name) {
      case 'pacs.002.001.11':
      case 'pacs.004.001.10':
      case 'camt.029.001.10':
        return takeReport(message, receive)
      case 'camt.053.001.08':
        return takeEach(message.body.GrpHdr, message.body.Stmt, readStatement, receive)
      case 'camt.054.001.08':
        return takeEach(message.body.GrpHdr, message.body.Ntfctn, readNotification, receive)
      case 'admi.002.001.01':
        await tellRejected(message.body)
        return TAKEN
      default:
        await alarm('message_malformed', 'message', message.name)
        return NOT_TAKEN
    }
  }

  /** Each is about a message of ours. One that names no payment of ours can be a lost return. */
  async function takeReport(message: Message, receive: BankReceiver): Promise<Reply> {
    const saids = saidIn(message, 'nothing')
    if (saids.length === 0) await alarm('payment_unnamed', message.id, message.name)
    return store(saids, receive)
  }

  /** What a message says is on disk when it is taken. */
  async function store(saids: readonly Said[], receive: BankReceiver): Promise<Reply> {
    for (const said of saids) await tell(said)
    await Promise.all(saids.map(({ id, outcome }) => receive(id, outcome)))
    return TAKEN
  }

  /** Statements or notifications. The pages of a message are those of its only one. */
  async function takeEach<Stated>(
    { MsgPgntn }: MessageBody<'camt.053.001.08'>['GrpHdr'],
    all: readonly Stated[],
    read: (
      stated: Stated,
      messagePage: Pagination | undefined,
      record: Record,
    ) => Promise<ReadEntries>,
    receive: BankReceiver,
  ): Promise<Reply> {
    const saids: Said[] = []
    for (const stated of all) {
      const found = await read(stated, all.length === 1 ? MsgPgntn : undefined, record)
      for (const notice of found.notices) await tellNotice(notice)
      saids.push(...found.saids)
    }
    return store(saids, receive)
  }

  async function tellNotice(notice: Notice): Promise<void> {
    const kind = ALARMS.find((each) => each === notice.kind)
    if (kind === undefined) await record.note(notice)
    else await alarm(kind, notice.subject, notice.code)
  }
}
