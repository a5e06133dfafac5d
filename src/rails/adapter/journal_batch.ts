/**
 * Decides the instructions, the bank's messages and the due steps of one write, one after another.
 *
 * Does not own: the rules (rules), loading and writing (cycle, journal).
 *
 * - Each decision sees the results of the ones before it.
 * - Only a change of state is a report; an answer carries no report id.
 * - A repeated id with different content is not executed. The answer is the state of the first
 *   content, because a refusal would end that one.
 */
import { unreachable } from '../../base/assert.js'
import type { EffectId } from '../../base/ids.js'
import type { Instruction, RailInstruction, RailReport } from '../rail.js'
import type { BankOutcome } from './bank.js'
import { contentOf, reportOf, type Entry } from './entry.js'
import { receive } from './entry_changes.js'
import type { Discrepancy, JournalBatch } from './journal.js'
import type { DecisionContext, Rules } from './rules.js'

/** What a bank elsewhere says about an instruction. */
export interface BankMessage {
  readonly kind: 'bank_message'
  readonly id: EffectId
  readonly outcome: BankOutcome
}

export interface JournalBatchBuilder {
  /** Takes the due step of an entry. */
  carryOut(entry: Entry): void
  /** @returns the answer, null if there is none or none yet */
  decide(railInstruction: RailInstruction | BankMessage): RailReport | null
  changes(): JournalBatch
  /** Reports to send once the changes are on disk. */
  reports(): readonly RailReport[]
  /** The bank moved money for instructions that the journal does not have. */
  unknownPayments(): readonly EffectId[]
}

/** @param found the stored entries of all ids that the batch names */
export function createJournalBatch(
  found: readonly Entry[],
  rules: Rules,
  context: DecisionContext,
): JournalBatchBuilder {
  const known = new Map(found.map((entry) => [entry.id, entry]))
  const changed = new Map<string, Entry>()
  const acknowledged: string[] = []
  const discrepancies: Discrepancy[] = []
  const reports: RailReport[] = []
  const unknownPayments: EffectId[] = []

  return {
    carryOut: (entry) => change(entry, rules.carryOut(entry, context)),
    decide,
    changes: () => ({ entries: [...changed.values()], acknowledged, discrepancies }),
    reports: () => reports,
    unknownPayments: () => unknownPayments,
  }

  function decide(railInstruction: RailInstruction | BankMessage): RailReport | null {
    if (railInstruction.kind === 'instruct') return instruct(railInstruction.instruction)
    if (railInstruction.kind === 'acknowledge') {
      acknowledged.push(railInstruction.reportId)
      return null
    }
    const entry = known.get(railInstruction.id)
    if (railInstruction.kind === 'bank_message') return learn(railInstruction, entry)
    if (entry === undefined) return { id: railInstruction.id, reportId: null, status: 'not_found' }
    switch (railInstruction.kind) {
      case 'query':
        return reportOf(entry, null)
      case 'recall':
        return requestRecall(entry, railInstruction.reason)
      case 'simulate':
        return force(entry, rules.simulate(entry, railInstruction.outcome, context))
      default:
        return unreachable(railInstruction)
    }
  }

  /** A new instruction is reported when its state changes. */
  function instruct(instruction: Instruction): RailReport | null {
    const first = known.get(instruction.id)
    if (first === undefined) {
      change(undefined, receive(instruction, rules, context))
      return null
    }
    const content = contentOf(instruction)
    if (content !== first.content) discrepancies.push({ id: first.id, content, at: context.now })
    return reportOf(first, null)
  }

  function requestRecall(entry: Entry, reason: string): RailReport | null {
    if (entry.state === 'returned') return reportOf(entry, null)
    const after = rules.recall(entry, reason, context)
    if (after === 'refused') return recallRefused(entry)
    change(entry, after)
    return null
  }

  /** A message about an unknown id is no instruction of ours; the bank hears nothing of it. */
  function learn({ id, outcome }: BankMessage, entry: Entry | undefined): RailReport | null {
    if (entry === undefined) {
      if (outcome.kind === 'executed' || outcome.kind === 'returned') unknownPayments.push(id)
      return null
    }
    const after = rules.learn(entry, outcome, context)
    if (after === 'recall_refused') {
      change(entry, { ...entry, due: null })
      return recallRefused(entry)
    }
    if (after !== entry) change(entry, after)
    return null
  }

  function force(before: Entry, after: Entry): RailReport | null {
    if (after === before) return reportOf(before, null)
    change(before, after)
    return null
  }

  function change(before: Entry | undefined, after: Entry): void {
    known.set(after.id, after)
    changed.set(after.id, after)
    if (after.reportId !== null && after.reportId !== before?.reportId) {
      reports.push(reportOf(after, after.reportId))
    }
  }
}

const recallRefused = ({ id, environment, shard }: Entry): RailReport => ({
  ...{ id, reportId: null, status: 'recall_refused' },
  environment: environment ?? 'sandbox',
  ...(shard === null ? {} : { shard }),
})
