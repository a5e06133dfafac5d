/**
 * The changes of an entry that every adapter shares.
 *
 * - Money moves out once: only `execute` does it, and never of an executed entry.
 * - Each change of the state has a report of its own.
 */
import { assert } from '../../base/assert.js'
import type { Instant } from '../../base/clock.js'
import { newId } from '../../base/ids.js'
import { statementReference, type Instruction, type RailRefusal } from '../rail.js'
import { contentOf, type Entry } from './entry.js'
import type { DecisionContext, Rules } from './rules.js'

/** The entry of a new instruction: refused when it is late, else as the rules decide. */
export function receive(
  instruction: Instruction,
  rules: Pick<Rules, 'receive'>,
  context: DecisionContext,
): Entry {
  const entry = pendingEntry(instruction, context.now)
  const isLate = instruction.notAfter !== null && context.now > instruction.notAfter
  return isLate ? refuse(entry, 'expired', context) : rules.receive(entry, instruction, context)
}

function pendingEntry(instruction: Instruction, now: Instant): Entry {
  return {
    id: instruction.id,
    environment: instruction.environment,
    shard: instruction.shard ?? null,
    purpose: instruction.purpose,
    amount: instruction.amount,
    currency: instruction.currency,
    account: instruction.destination.account,
    bankCode: instruction.destination.bankCode,
    sealedAccount: null,
    reference: statementReference(instruction),
    content: contentOf(instruction),
    receivedAt: now,
    executedAt: null,
    returnedAt: null,
    state: 'pending',
    refusal: null,
    transactionId: null,
    executions: 0,
    due: null,
    reportId: null,
    instruction: null,
  }
}

export function execute(entry: Entry, transactionId: string, context: DecisionContext): Entry {
  assert(entry.executions === 0, 'an instruction is executed once')
  return {
    ...entry,
    state: 'executed',
    refusal: null,
    executions: entry.executions + 1,
    executedAt: context.now,
    transactionId,
    due: null,
    reportId: reportIdOf(context),
  }
}

export function refuse(entry: Entry, refusal: RailRefusal, context: DecisionContext): Entry {
  assert(entry.state === 'pending', 'only a pending instruction is refused')
  return { ...entry, state: 'refused', refusal, due: null, reportId: reportIdOf(context) }
}

export function returnFunds(entry: Entry, context: DecisionContext): Entry {
  assert(entry.state === 'executed', 'only an executed instruction is returned')
  const returned = { state: 'returned', returnedAt: context.now, due: null } as const
  return { ...entry, ...returned, reportId: reportIdOf(context) }
}

const reportIdOf = ({ now, random }: DecisionContext): string => newId('report', now, random)
