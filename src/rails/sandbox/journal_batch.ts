/**
 * Decides the instructions and due steps of one write, one after another.
 *
 * Does not own: the rules (bank), loading and writing (cycle, journal).
 *
 * - Each decision sees the results of the ones before it.
 * - Only a change of state is a report; an answer carries no report id.
 * - A repeated id with different content is not executed. The answer is the state of the first
 *   content, because a refusal would end that one.
 */
import { unreachable } from '../../base/assert.js'
import type { Instruction, RailInstruction, RailReport } from '../rail.js'
import { carryOut, recall, receive, refusesRecall, simulate, type BankContext } from './bank.js'
import { contentOf, reportOf, type Entry } from './entry.js'
import type { Discrepancy, JournalBatch } from './journal.js'

export interface JournalBatchBuilder {
  /** Takes the due step of an entry. */
  carryOut(entry: Entry): void
  /** @returns the answer; null: none, or none yet */
  decide(railInstruction: RailInstruction): RailReport | null
  changes(): JournalBatch
  /** Reports to send once the changes are on disk. */
  reports(): readonly RailReport[]
}

/** @param found the stored entries of all ids that the batch names */
export function createJournalBatch(
  found: readonly Entry[],
  bankContext: BankContext,
): JournalBatchBuilder {
  const known = new Map(found.map((entry) => [entry.id, entry]))
  const changed = new Map<string, Entry>()
  const acknowledged: string[] = []
  const discrepancies: Discrepancy[] = []
  const reports: RailReport[] = []

  return {
    carryOut: (entry) => change(entry, carryOut(entry, bankContext)),
    decide,
    changes: () => ({ entries: [...changed.values()], acknowledged, discrepancies }),
    reports: () => reports,
  }

  function decide(railInstruction: RailInstruction): RailReport | null {
    if (railInstruction.kind === 'instruct') return instruct(railInstruction.instruction)
    if (railInstruction.kind === 'acknowledge') {
      acknowledged.push(railInstruction.reportId)
      return null
    }
    const entry = known.get(railInstruction.id)
    if (entry === undefined) return { id: railInstruction.id, reportId: null, status: 'not_found' }
    switch (railInstruction.kind) {
      case 'query':
        return reportOf(entry, null)
      case 'recall':
        return requestRecall(entry)
      case 'simulate':
        return force(entry, simulate(entry, railInstruction.outcome, bankContext))
      default:
        return unreachable(railInstruction)
    }
  }

  /** A new instruction is reported when its state changes. */
  function instruct(instruction: Instruction): RailReport | null {
    const first = known.get(instruction.id)
    if (first === undefined) {
      change(undefined, receive(instruction, bankContext))
      return null
    }
    const content = contentOf(instruction)
    if (content !== first.content)
      discrepancies.push({ id: first.id, content, at: bankContext.now })
    return reportOf(first, null)
  }

  function requestRecall(entry: Entry): RailReport | null {
    if (entry.state === 'returned') return reportOf(entry, null)
    if (refusesRecall(entry)) {
      return { id: entry.id, reportId: null, status: 'recall_refused' }
    }
    change(entry, recall(entry, bankContext))
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
