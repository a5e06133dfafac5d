/**
 * The rules of an adapter whose bank is elsewhere: what to ask it, and what its word means.
 *
 * Does not own: the calls (bank_calls), what is stored (entry_changes).
 *
 * - The bank is called only about what is on disk: `committed` starts the calls of a batch.
 * - Every pending entry has a due step, so no payment is forgotten by a lost answer or a restart.
 * - An instruction is submitted again, or ends as late, only when the bank does not know it after
 *   its finality window, counted from the last submission, or from the start of this process, to
 *   the question: the answer can be under way while the window passes. A message that names no
 *   question proves nothing, however late it comes.
 * - The bank's word is reported, also when it contradicts an earlier one: a `refused` payment that
 *   was executed is `executed`, for the processor to find the discrepancy. Only an execution that
 *   the bank takes back is not a refusal: it stays until the bank returns the money.
 * - A movement of no amount is none: neither journal nor reports can have it.
 */
import { HOUR, MINUTE, plus, SECOND, type Instant } from '../../base/clock.js'
import type { EffectId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { BankExecution, BankOutcome } from './bank.js'
import type { BankCall } from './bank_calls.js'
import type { Entry } from './entry.js'
import { execute, refuse, returnFunds } from './entry_changes.js'
import type { DecisionContext, Rules } from './rules.js'

const INQUIRED_AFTER_MS = SECOND
const RECALL_REPEATED_AFTER_MS = 5 * SECOND
const RECALL_REPEATED_EVERY_MS = MINUTE

export interface BankRulesOptions {
  readonly finalityWindowMs: number
  readonly log: Logger
  /** When this process began to serve. */
  readonly startedAt: Instant
  /** When the bank was last sent this instruction, by this process. */
  readonly submittedAt: (id: EffectId) => Instant | undefined
  readonly call: (call: BankCall) => void
}

export function createBankRules(options: BankRulesOptions): Rules {
  const { finalityWindowMs, log, startedAt, submittedAt, call } = options
  let asked: BankCall[] = []

  return { receive, carryOut, recall, learn, simulate: (entry) => entry, committed }

  function receive(
    pending: Entry,
    instruction: NonNullable<Entry['instruction']>,
    { now }: DecisionContext,
  ): Entry {
    asked.push({ kind: 'submit', instruction, receivedAt: pending.receivedAt })
    const due = { at: plus(now, INQUIRED_AFTER_MS), step: 'execute' } as const
    return { ...pending, instruction, due }
  }

  function carryOut(entry: Entry, { now }: DecisionContext): Entry {
    const { instruction, due } = entry
    if (due === null || instruction === null) return entry
    if (due.step === 'return') {
      asked.push({ kind: 'recall', instruction, reason: '' })
      return { ...entry, due: { ...due, at: plus(now, RECALL_REPEATED_EVERY_MS) } }
    }
    asked.push({ kind: 'query', instruction })
    const pause = Math.min(Math.max(now - entry.receivedAt, INQUIRED_AFTER_MS), HOUR)
    return { ...entry, due: { ...due, at: plus(now, pause) } }
  }

  function recall(entry: Entry, reason: string, { now }: DecisionContext): Entry | 'refused' {
    const { instruction } = entry
    if (entry.state !== 'executed' || instruction === null) return 'refused'
    asked.push({ kind: 'recall', instruction, reason })
    return { ...entry, due: { at: plus(now, RECALL_REPEATED_AFTER_MS), step: 'return' } }
  }

  function learn(
    entry: Entry,
    outcome: BankOutcome,
    context: DecisionContext,
  ): Entry | 'recall_refused' {
    switch (outcome.kind) {
      case 'accepted':
        return entry
      case 'executed':
        return isMovement(entry, outcome) ? learnExecution(entry, outcome, context) : entry
      case 'returned':
        return isMovement(entry, outcome) ? learnReturn(entry, outcome, context) : entry
      case 'refused':
        if (entry.state === 'pending') return refuse(entry, outcome.refusal, context)
        if (entry.state !== 'refused') contradict(entry, 'refused')
        return entry
      case 'recall_refused':
        return entry.state === 'executed' ? 'recall_refused' : entry
      case 'not_found':
        return entry.state === 'pending' && outcome.askedAt !== undefined
          ? submitAgain(entry, outcome.askedAt, context)
          : entry
    }
  }

  function isMovement({ id, state }: Entry, { amount }: BankExecution): boolean {
    if (amount === undefined || amount > 0n) return true
    log.error({ instruction_id: id, state }, 'the bank reports a movement of no amount')
    return false
  }

  /** A return of another amount than was executed is not reported: an operator decides. */
  function learnReturn(entry: Entry, returned: BankExecution, context: DecisionContext): Entry {
    if (entry.state === 'returned') return entry
    const { amount = entry.amount, currency = entry.currency } = returned
    const isWhole = amount === entry.amount && currency === entry.currency
    if (entry.executions > 0 && !isWhole) {
      contradict(entry, 'returned')
      return entry
    }
    return returnFunds(learnExecution(entry, returned, context), context)
  }

  function learnExecution(entry: Entry, execution: BankExecution, context: DecisionContext): Entry {
    const { transactionId, amount = entry.amount, currency = entry.currency } = execution
    const { destinationAccount = entry.account, destinationBank } = execution
    if (entry.executions > 0) {
      const isSameAmount = entry.amount === amount && entry.currency === currency
      if (entry.transactionId !== transactionId || !isSameAmount) contradict(entry, 'executed')
      return entry
    }
    if (entry.state === 'refused') contradict(entry, 'executed')
    const bankCode = destinationBank ?? entry.bankCode
    const executed = execute(entry, transactionId, context)
    const isSealed = destinationAccount === entry.account
    const sealedAccount = isSealed ? entry.sealedAccount : null
    return { ...executed, amount, currency, account: destinationAccount, sealedAccount, bankCode }
  }

  /** @param unknownAt when the bank was asked and did not know it */
  function submitAgain(entry: Entry, unknownAt: Instant, context: DecisionContext): Entry {
    const { instruction } = entry
    const since = submittedAt(entry.id) ?? startedAt
    if (instruction === null || unknownAt - since < finalityWindowMs) return entry
    const { notAfter } = instruction
    if (notAfter !== null && context.now > notAfter) return refuse(entry, 'expired', context)
    asked.push({ kind: 'submit', instruction, receivedAt: entry.receivedAt })
    return entry
  }

  function contradict({ id, state }: Entry, outcome: string): void {
    log.error({ instruction_id: id, state, outcome }, 'the bank contradicts itself')
  }

  function committed(): void {
    const calls = asked
    asked = []
    for (const each of calls) call(each)
  }
}
