/**
 * The orders and due steps of one write, decided one after another.
 *
 * Owns: which rule an order calls, what it answers, what changed. Pure but for the draws of its
 * moment. Does not own: the rules (bank), finding and writing (cycle, journal).
 *
 * G1. Each decision sees what the ones before it left behind.
 * G2. An answer carries no report id; only a change of state is news.
 * G3. The same id with other content is not executed. It is answered with what became of the first
 *     content: a refusal would speak of that one.
 */
import { unreachable } from '../../base/assert.js'
import type { Instruction, RailOrder, RailReport } from '../rail.js'
import { carryOut, recall, receive, simulate, type Moment } from './bank.js'
import { contentOf, reportOf, type Entry } from './entry.js'
import type { Discrepancy, JournalGroup } from './journal.js'

export interface Group {
  /** Takes the step of an entry whose time has come. */
  carryOut(entry: Entry): void
  /** The answer; null when the order has none, or none yet. */
  decide(order: RailOrder): RailReport | null
  changes(): JournalGroup
  /** Reports that are told when the changes are on disk. */
  news(): readonly RailReport[]
}

/** `found` holds the entries of all ids that the group's orders name, as far as they are known. */
export function createGroup(found: readonly Entry[], moment: Moment): Group {
  const known = new Map(found.map((entry) => [entry.id, entry]))
  const changed = new Map<string, Entry>()
  const acknowledged: string[] = []
  const discrepancies: Discrepancy[] = []
  const news: RailReport[] = []

  return {
    carryOut: (entry) => change(entry, carryOut(entry, moment)),
    decide,
    changes: () => ({ entries: [...changed.values()], acknowledged, discrepancies }),
    news: () => news,
  }

  function decide(order: RailOrder): RailReport | null {
    if (order.kind === 'instruct') return instruct(order.instruction)
    if (order.kind === 'acknowledge') {
      acknowledged.push(order.reportId)
      return null
    }
    const entry = known.get(order.id)
    if (entry === undefined) return { id: order.id, reportId: null, status: 'not_found' }
    switch (order.kind) {
      case 'query':
        return reportOf(entry, null)
      case 'recall':
        return askBack(entry)
      case 'simulate':
        return force(entry, simulate(entry, order.outcome, moment))
      default:
        return unreachable(order)
    }
  }

  /** A new instruction is answered when something has become of it. */
  function instruct(instruction: Instruction): RailReport | null {
    const first = known.get(instruction.id)
    if (first === undefined) {
      change(undefined, receive(instruction, moment))
      return null
    }
    const content = contentOf(instruction)
    if (content !== first.content) discrepancies.push({ id: first.id, content, at: moment.now })
    return reportOf(first, null)
  }

  function askBack(entry: Entry): RailReport | null {
    if (entry.state === 'returned') return reportOf(entry, null)
    if (entry.state !== 'executed') {
      return { id: entry.id, reportId: null, status: 'recall_refused' }
    }
    change(entry, recall(entry, moment))
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
      news.push(reportOf(after, after.reportId))
    }
  }
}
