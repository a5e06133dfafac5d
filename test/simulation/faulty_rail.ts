/**
 * A faulty bank network: messages are lost, repeated, delayed and reordered, and false reports are
 * added.
 *
 * Does not own: the bank's rules and journal, which are those of the sandbox rail and never fail.
 *
 * - The journal is the oracle: it records what was paid.
 * - A false report only accompanies the true one, which is repeated until it is acknowledged.
 */
import type { Clock } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import type { RailInstruction, RailReport } from '../../src/rails/rail.js'
import { reportOf, type Entry } from '../../src/rails/adapter/entry.js'
import { sandboxRules } from '../../src/rails/sandbox/bank.js'
import { createJournalBatch } from '../../src/rails/adapter/journal_batch.js'
import type { Discrepancy } from '../../src/rails/sandbox/journal.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'

/** Each with probability 1/n. 0 means never. */
export interface WireFaults {
  readonly loss: number
  readonly repeat: number
  readonly falseReport: number
  /** An inquiry about an instruction that the rail has is answered `not_found`. */
  readonly notFound: number
}

export interface FaultyRail {
  readonly entries: ReadonlyMap<string, Entry>
  /** Instructions received again with different content. */
  readonly discrepancies: readonly Discrepancy[]
  /** Instructions with a false report. */
  readonly falselyReported: ReadonlySet<string>
  readonly isUp: boolean
  /** Reports another amount, execution or, where it can be compared, account than was paid. */
  differs(report: RailReport, isAccountKnown: boolean): boolean
  instructions(): number
  reports(): number
  send(instructions: readonly RailInstruction[]): void
  /** Delivers one instruction. */
  receive(): void
  /** Delivers one report. */
  deliver(): RailReport
  /** Runs the bank's due work. */
  work(): void
  nextDueAt(): number | null
  /**
   * Forgets instructions that it has accepted and not executed: money that has moved is known to
   * the bank behind the rail. @returns how many
   */
  goBack(): number
  disconnect(): void
  connect(): void
  /** Ends all faults: every later message arrives and every report is true. */
  stopFaults(): void
}

const DELAYS = [0, 0, 50, 250, 2_000] as const

export function createFaultyRail(
  clock: Clock,
  random: Random,
  seededRandom: SeededRandom,
  given: WireFaults,
): FaultyRail {
  const entries = new Map<string, Entry>()
  const discrepancies: Discrepancy[] = []
  const falselyReported = new Set<string>()
  let faults = given
  let isUp = true
  let instructions: RailInstruction[] = []
  let reports: RailReport[] = []
  const happens = (times: number): boolean => times > 0 && seededRandom.once(times)
  const takeAny = <Item>(list: Item[]): Item => list.splice(seededRandom.int(list.length), 1)[0]!

  const transmit = <Item>(list: Item[], item: Item): void => {
    if (!isUp || happens(faults.loss)) return
    list.push(item)
    if (happens(faults.repeat)) list.push(item)
  }
  const sendReport = (report: RailReport): void => {
    transmit(reports, report)
    if (report.reportId === null || !happens(faults.falseReport)) return
    const other = falseReportOf(report, seededRandom)
    if (other === null) return
    falselyReported.add(report.id)
    transmit(reports, other)
  }

  const decide = (
    known: Entry | undefined,
    run: (batch: ReportBatchInFlight) => RailReport | null,
  ): void => {
    const batch = createJournalBatch(
      known === undefined ? [] : [known],
      sandboxRules(seededRandom.pick(DELAYS)),
      { now: clock.now(), random },
    )
    const reply = run(batch)
    const changes = batch.changes()
    for (const entry of changes.entries) entries.set(entry.id, entry)
    for (const reportId of changes.acknowledged) acknowledge(reportId)
    discrepancies.push(...changes.discrepancies)
    for (const railReports of batch.reports()) sendReport(railReports)
    if (reply !== null) sendReport(reply)
  }
  const acknowledge = (reportId: string): void => {
    for (const entry of entries.values()) {
      if (entry.reportId === reportId) entries.set(entry.id, { ...entry, reportId: null })
    }
  }
  const process = (railInstruction: RailInstruction): void => {
    const id =
      railInstruction.kind === 'instruct'
        ? railInstruction.instruction.id
        : 'id' in railInstruction
          ? railInstruction.id
          : ''
    if (railInstruction.kind === 'recall' && happens(faults.falseReport)) {
      return sendReport({ status: 'recall_refused', id: railInstruction.id, reportId: null })
    }
    const known = entries.get(id)
    if (railInstruction.kind === 'query' && known !== undefined && happens(faults.notFound)) {
      return sendReport({ status: 'not_found', id: known.id, reportId: null })
    }
    decide(known, (batch) => batch.decide(railInstruction))
  }
  const dueNow = (): Entry[] =>
    [...entries.values()].filter(({ due }) => due !== null && due.at <= clock.now())

  return {
    entries,
    discrepancies,
    falselyReported,
    get isUp() {
      return isUp
    },
    differs: (report, isAccountKnown) => {
      if (report.status !== 'executed' && report.status !== 'returned') return false
      const entry = entries.get(report.id)
      return (
        report.amount !== entry?.amount ||
        report.transactionId !== entry.transactionId ||
        (isAccountKnown && report.destinationAccount !== entry.account)
      )
    },
    instructions: () => instructions.length,
    reports: () => reports.length,
    send: (sent) => {
      for (const railInstruction of sent) transmit(instructions, railInstruction)
    },
    receive: () => process(takeAny(instructions)),
    deliver: () => takeAny(reports),
    work: () => {
      for (const entry of dueNow()) {
        decide(entry, (batch) => {
          batch.carryOut(entry)
          return null
        })
      }
    },
    nextDueAt: () => {
      const times = [...entries.values()].flatMap(({ due }) => due?.at ?? [])
      return times.length === 0 ? null : Math.min(...times)
    },
    goBack: () => {
      const pending = [...entries.values()].filter(({ state }) => state === 'pending')
      const forgotten = pending.slice(-1 - seededRandom.int(pending.length + 1))
      for (const { id } of forgotten) entries.delete(id)
      return forgotten.length
    },
    disconnect: () => {
      isUp = false
      instructions = []
      reports = []
    },
    connect: () => {
      isUp = true
      for (const entry of entries.values()) {
        if (entry.reportId !== null) sendReport(reportOf(entry, entry.reportId))
      }
    },
    stopFaults: () => {
      faults = { loss: 0, repeat: 0, falseReport: 0, notFound: 0 }
    },
  }
}

type ReportBatchInFlight = ReturnType<typeof createJournalBatch>

/** A false report about the same instruction; null where none is possible. */
function falseReportOf(report: RailReport, seededRandom: SeededRandom): RailReport | null {
  const { id } = report
  switch (report.status) {
    case 'executed':
      return seededRandom.pick<RailReport>([
        { status: 'refused', id, reportId: null, refusal: 'rejected' },
        { ...report, reportId: null, amount: report.amount + 1n },
        { ...report, reportId: null, transactionId: 'sbx_another' },
        { ...report, reportId: null, destinationAccount: '1' },
      ])
    case 'refused':
      return { status: 'not_found', id, reportId: null }
    case 'returned':
      return { status: 'refused', id, reportId: null, refusal: 'account_closed' }
    default:
      return null
  }
}
