/**
 * The orders and due steps of one write, decided one after another.
 *
 * Owns: which rule an order calls, what it answers, what changed. Pure but for the draws of its
 * moment. Does not own: the rules (bank), finding and writing (cycle, journal).
 *
 * - Each decision sees what the ones before it left behind.
 * - An answer carries no report id; only a change of state is reports.
 * - The same id with other content is not executed. It is answered with what became of the first
 *   content: a refusal would speak of that one.
 */
import { unreachable } from '../../base/assert.js'
import type { Instruction, RailInstruction, RailReport } from '../rail.js'
import { carryOut, recall, receive, simulate, type BankContext } from './bank.js'
import { contentOf, reportOf, type Entry } from './entry.js'
import type { Discrepancy, JournalBatch } from './journal.js'

export interface JournalBatchBuilder {
  /** Takes the step of an entry whose time has come. */
  carryOut(entry: Entry): void
  /** The answer; null when the order has none, or none yet. */
  decide(railInstruction: RailInstruction): RailReport | null
  changes(): JournalBatch
  /** Reports that are told when the changes are on disk. */
  reports(): readonly RailReport[]
}

/** `found` holds the entries of all ids that the batch's orders name, as far as they are known. */
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

  /** A new instruction is answered when something has become of it. */
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
    if (entry.state !== 'executed') {
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
