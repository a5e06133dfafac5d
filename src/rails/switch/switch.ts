/**
 * A switch for trials and tests: the other side of the ISO 20022 adapter, which misbehaves when a
 * payment asks for it (behavior).
 *
 * Does not own: the text of its messages (answers), what is on disk (switch_log).
 *
 * - Money moves at most once for an instruction id, whatever comes again.
 * - What it sends by itself is sent until the adapter has taken it, also after a restart.
 */
import { hash } from 'node:crypto'
import { SECOND, type Clock } from '../../base/clock.js'
import type { EffectId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { Random } from '../../base/random.js'
import { MESSAGE_BOUNDS, readMessage, writeMessage } from '../iso20022/codec.js'
import type { ReadMembership } from '../iso20022/membership_file.js'
import type { Message, MessageBody } from '../iso20022/messages.js'
import { createSender, openReceiver, type Reply } from '../iso20022/transport.js'
import { isEffectId } from '../wire_validators.js'
import {
  messageReject,
  paymentReturn,
  recallAnswer,
  statement,
  statusReport,
  type Issuer,
  type StatementEntry,
  type StatusOptions,
} from './answers.js'
import { behaviorOf } from './behavior.js'
import type { Movement, SwitchLog, SwitchPayment } from './switch_log.js'

export interface SwitchOptions {
  readonly us: ReadMembership
  readonly journal: SwitchLog
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly statementEveryMs: number
  /** Gets every message, as it is on the wire. */
  readonly onMessage?: (direction: 'received' | 'sent', body: Uint8Array) => void
}

export interface RunningSwitch {
  readonly address: string
  /** Sends a statement of what moved since the last one. */
  issueStatements(): void
  close(): Promise<void>
}

const LATE_MS = 1_500
const RETURNED_AFTER_MS = 100
const CONTRADICTED_AFTER_MS = 500
const SENT_AGAIN_AFTER_MS = 200
const ENTRIES_PER_STATEMENT = 200
const OVERSIZED_BYTES = 10_000_000
const NOT_KNOWN = 'NOOR'

type Transfer = MessageBody<'pacs.008.001.09'>['CdtTrfTxInf'][number]

export async function startSwitch(options: SwitchOptions): Promise<RunningSwitch> {
  const { us, journal, clock, random, log, statementEveryMs, onMessage } = options
  const sender = createSender(us.sendTo, us)
  const timers = new Set<NodeJS.Timeout>()
  const newId = (): string => `S${random.bytes(12).toString('hex')}`
  const issuer: Issuer = {
    ...{ own: us.agent, peer: us.switch, account: us.debtor.account, newId, now: clock.now },
  }
  let closed = false
  let skipsNumber = false

  const receiver = await openReceiver({
    ...{ ...us, address: us.listen },
    take: (body) => Promise.resolve(take(body)),
    onRefused: (fault) => log.warn({ fault }, 'a message is refused'),
  })
  for (const { key } of journal.waiting.values()) deliver(key)
  for (const payment of journal.payments.values())
    if (payment.state === 'pending') endLater(payment)
  const ticking = setInterval(issueStatements, statementEveryMs)
  return { address: receiver.address, issueStatements, close }

  function take(body: Buffer): Reply | 'cut' {
    onMessage?.('received', body)
    const message = readMessage(body, MESSAGE_BOUNDS)
    switch (message.name) {
      case 'pacs.008.001.09':
        return message.body.CdtTrfTxInf.map((transfer) => submit(transfer, message, body))[0]!
      case 'pacs.028.001.04':
        return reply(statusOf(message.body.TxInf[0]?.OrgnlInstrId ?? '', message.id))
      case 'camt.056.001.09':
        return reply(recall(message.body.Undrlyg[0]?.TxInf[0]?.OrgnlInstrId ?? ''))
      default:
        return { status: 400 }
    }
  }

  function reply(message: Message): Reply {
    const body = writeMessage(message)
    onMessage?.('sent', body)
    return { status: 200, body }
  }

  function submit(transfer: Transfer, { id: messageId }: Message, body: Buffer): Reply | 'cut' {
    const id = transfer.PmtId.InstrId ?? transfer.PmtId.EndToEndId
    const content = hash('sha256', body)
    const known = journal.payments.get(id)
    if (known === undefined) return first(paymentIn(id, transfer, content))
    const repeatDiffers = known.repeatDiffers || known.content !== content
    const again = { ...known, submissions: known.submissions + 1, repeatDiffers }
    journal.write({ payment: again })
    if (repeatDiffers) return reply(messageReject(issuer, messageId, 'REPEATDIFFERS'))
    if (again.state === 'absent') return reply(statusAbout(executed(again)))
    return reply(statusAbout(again))
  }

  function paymentIn(id: string, transfer: Transfer, content: string): SwitchPayment {
    const { CdtrAcct, IntrBkSttlmAmt, RmtInf } = transfer
    const account = CdtrAcct?.Id?.Othr?.Id ?? CdtrAcct?.Prxy?.Id ?? ''
    const { minor, currency } = IntrBkSttlmAmt
    return {
      ...{ id, ...behaviorOf(account, RmtInf?.Ustrd[0] ?? ''), amount: minor.toString(), currency },
      ...{ content, submissions: 1, repeatDiffers: false, state: 'pending' },
      ...{ receivedAt: clock.now(), executed: null, returned: null },
    }
  }

  function first(payment: SwitchPayment): Reply | 'cut' {
    switch (payment.mode) {
      case 'refused':
        return reply(statusAbout(stored({ ...payment, state: 'rejected' })))
      case 'late':
      case 'pending':
        endLater(stored(payment))
        return reply(statusAbout(payment))
      case 'lost_request':
        stored({ ...payment, state: 'absent' })
        return 'cut'
      case 'message_rejected':
        stored({ ...payment, state: 'absent' })
        return reply(messageReject(issuer, payment.id, 'TRYAGAIN'))
      default:
        return afterExecution(executed(payment))
    }
  }

  function afterExecution(payment: SwitchPayment): Reply | 'cut' {
    const { id, mode } = payment
    switch (mode) {
      case 'lost':
      case 'unknown':
        return 'cut'
      case 'twice':
        push(`${id} once`, statusAbout(payment))
        push(`${id} twice`, statusAbout(payment))
        return reply(statusAbout(payment))
      case 'contradictory':
        push(`${id} executed`, statusAbout(payment), CONTRADICTED_AFTER_MS)
        return reply(status(id, 'RJCT', { code: 'AC06' }))
      case 'withdrawn':
        push(`${id} rejected`, status(id, 'RJCT', { code: 'AC06' }), CONTRADICTED_AFTER_MS)
        return reply(statusAbout(payment))
      case 'duplicate':
        return reply(status(id, 'RJCT', { code: 'AM05' }))
      case 'bad_signature':
        return { ...reply(statusAbout(payment)), signature: 'eyJhbGciOiJFUzI1NiJ9..AAAA' }
      case 'oversized':
        return { status: 200, body: Buffer.alloc(OVERSIZED_BYTES, '<a>') }
      case 'returned':
        later(RETURNED_AFTER_MS, () => returnFunds(payment))
        return reply(statusAbout(payment))
      case 'statement_gap':
        skipsNumber = true
        return reply(statusAbout(payment))
      default:
        return reply(statusAbout(payment))
    }
  }

  function stored(payment: SwitchPayment): SwitchPayment {
    journal.write({ payment })
    return payment
  }

  function executed(payment: SwitchPayment): SwitchPayment {
    const moved = BigInt(payment.amount) + (payment.mode === 'wrong_amount' ? 1n : 0n)
    return stored({ ...payment, state: 'executed', executed: movementOf(moved) })
  }

  function movementOf(amount: bigint): Movement {
    return { number: journal.lastMovement() + 1, at: clock.now(), amount: amount.toString() }
  }

  function endLater(payment: SwitchPayment): void {
    if (payment.mode !== 'late') return
    const rest = payment.receivedAt + LATE_MS - clock.now()
    later(Math.max(rest, 0), () => push(`${payment.id} late`, statusAbout(executed(payment))))
  }

  function returnFunds(payment: SwitchPayment): SwitchPayment {
    const whole = BigInt(payment.executed?.amount ?? '0')
    const amount = payment.mode === 'partial_return' ? whole - 1n : whole
    const returned = stored({ ...payment, state: 'returned', returned: movementOf(amount) })
    push(`${payment.id} returned`, paymentReturn(issuer, returned))
    return returned
  }

  /** The answer to a status request. */
  function statusOf(id: string, request: string): Message {
    const payment = journal.payments.get(id)
    const isKnown =
      payment !== undefined &&
      payment.state !== 'absent' &&
      (payment.mode !== 'unknown' || payment.submissions > 1)
    if (!isKnown) return status(id, 'RJCT', { code: NOT_KNOWN, request })
    if (payment.state === 'returned') return paymentReturn(issuer, payment)
    return statusAbout(payment, { request })
  }

  function statusAbout(payment: SwitchPayment, about: StatusOptions = {}): Message {
    const { id, mode, code, state, currency } = payment
    if (state === 'rejected') return status(id, 'RJCT', { ...about, code })
    if (state === 'pending' || payment.executed === null) return status(id, 'PDNG', about)
    const amount = { minor: BigInt(payment.executed.amount), currency }
    return status(id, 'ACSC', mode === 'no_amount' ? about : { ...about, amount })
  }

  function status(id: string, code: string, about: StatusOptions): Message {
    if (!isEffectId(id)) throw new Error('not an instruction id')
    return statusReport(issuer, id, code, about)
  }

  function recall(id: string): Message {
    const payment = journal.payments.get(id)
    const of = id as EffectId
    if (payment?.state === 'returned') return recallAnswer(issuer, of, 'RJCR', 'ARDT')
    if (payment?.state !== 'executed') return recallAnswer(issuer, of, 'RJCR', NOT_KNOWN)
    if (payment.mode === 'recall_refused') return recallAnswer(issuer, of, 'RJCR', 'CUST')
    if (payment.mode === 'recall_repeated') {
      stored({
        ...{ ...payment, state: 'returned' },
        returned: movementOf(BigInt(payment.executed?.amount ?? '0')),
      })
      return recallAnswer(issuer, of, 'RJCR', 'ARDT')
    }
    returnFunds(payment)
    return recallAnswer(issuer, of, 'ACCR')
  }

  function push(key: string, message: Message, afterMs = 0): void {
    journal.write({ waiting: { key, body: writeMessage(message).toString() } })
    later(afterMs, () => deliver(key))
  }

  function deliver(key: string): void {
    const waiting = journal.waiting.get(key)
    if (waiting === undefined || closed) return
    const body = Buffer.from(waiting.body)
    sender.send(body).then(
      () => {
        if (closed) return
        onMessage?.('sent', body)
        journal.write({ delivered: key })
      },
      () => later(SENT_AGAIN_AFTER_MS, () => deliver(key)),
    )
  }

  function issueStatements(): void {
    const currencies = new Set([...journal.payments.values()].map(({ currency }) => currency))
    for (const currency of currencies) while (issueStatement(currency));
  }

  /** @returns whether there was something to state */
  function issueStatement(currency: string): boolean {
    const last = journal.statements.get(currency)
    const moved = movementsOf(currency, last?.through ?? 0).slice(0, ENTRIES_PER_STATEMENT)
    const end = moved.at(-1)
    if (end === undefined) return false
    const opening = BigInt(last?.closing ?? '0')
    const closing = moved.reduce(
      (sum, { movement, isReturn }) =>
        isReturn ? sum + BigInt(movement.amount) : sum - BigInt(movement.amount),
      opening,
    )
    const number = (last?.number ?? 0) + (skipsNumber ? 2 : 1)
    skipsNumber = false
    const through = end.movement.number
    const issued = { currency, number, closing: closing.toString(), through }
    const body = writeMessage(statement(issuer, issued, opening, moved)).toString()
    const key = `statement ${currency} ${number}`
    journal.write({ statement: issued }, { waiting: { key, body } })
    deliver(key)
    return true
  }

  function movementsOf(currency: string, after: number): readonly StatementEntry[] {
    return [...journal.payments.values()]
      .filter((payment) => payment.currency === currency)
      .flatMap(({ id, executed: out, returned: back }): StatementEntry[] => [
        ...(out === null ? [] : [{ id, movement: out, isReturn: false }]),
        ...(back === null ? [] : [{ id, movement: back, isReturn: true }]),
      ])
      .filter(({ movement }) => movement.number > after)
      .sort((one, other) => one.movement.number - other.movement.number)
  }

  function later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      if (!closed) act()
    }, ms)
    timers.add(timer)
  }

  async function close(): Promise<void> {
    closed = true
    clearInterval(ticking)
    for (const timer of timers) clearTimeout(timer)
    await receiver.close()
    sender.close()
    journal.close()
  }
}

export const STATEMENT_EVERY_MS = 30 * SECOND
