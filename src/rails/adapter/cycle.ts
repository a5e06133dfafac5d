/**
 * An adapter's cycle: gather, load, decide, write, report.
 *
 * Owns: batching and the timer of due steps. Does not own: decisions (journal_batch, rules), rows
 * (journal), streams (server).
 *
 * - Nothing is reported before it is on disk.
 * - Instructions are decided in order of arrival.
 * - One batch is in flight at a time; instructions that arrive meanwhile form the next one.
 * - A failed write stops the cycle: its outcome is unknown, so memory may differ from the file.
 */
import { instant, type Clock, type Instant } from '../../base/clock.js'
import { crashPoint } from '../../base/crash_point.js'
import type { Logger } from '../../base/log.js'
import type { Random } from '../../base/random.js'
import type { RailInstruction, RailReport } from '../rail.js'
import { reportOf, type Entry } from './entry.js'
import { createJournalBatch, type BankMessage } from './journal_batch.js'
import type { Journal } from './journal.js'
import type { Rules } from './rules.js'

/** Instructions and due steps of one write: enough to share an fsync without delaying answers. */
const INSTRUCTIONS_MAX = 2_048
const UNACKNOWLEDGED_PAGE = 1_024

export interface CycleOptions {
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly rules: Rules
  /** Sends reports to the open link, if there is one. */
  readonly publish: (reports: readonly RailReport[]) => void
  /** Called once, after a failed write. */
  readonly fail: (error: unknown) => void
}

export interface Cycle {
  /** Takes the steps that became due while the rail was stopped, then runs the timer. */
  start(): Promise<void>
  /** Resolves when the instructions are on disk and `answer` has received their answers. */
  submit(railInstructions: readonly CycleInput[], answer: RailAnswer): Promise<void>
  /** Unacknowledged reports, page by page. */
  unacknowledged(): AsyncGenerator<readonly RailReport[]>
  /** Finishes submitted instructions; steps that come due wait for the next start. */
  stop(): Promise<void>
}

export type RailAnswer = (reports: readonly RailReport[]) => void

type CycleInput = RailInstruction | BankMessage

interface Submission {
  readonly railInstructions: readonly CycleInput[]
  readonly answer: RailAnswer
  readonly done: () => void
}

export function createCycle(options: CycleOptions): Cycle {
  const { journal, clock, random, log, rules, publish, fail } = options
  let waiting: Submission[] = []
  let nextDueAt: Instant | null = null
  let timer: NodeJS.Timeout | undefined
  let busy = false
  let stopping: (() => void) | undefined

  return { start, submit, unacknowledged, stop }

  async function start(): Promise<void> {
    nextDueAt = await journal.nextDueAt(instant(0))
    runIfIdle()
  }

  function submit(railInstructions: readonly CycleInput[], answer: RailAnswer): Promise<void> {
    return new Promise((done) => {
      waiting.push({ railInstructions, answer, done })
      runIfIdle()
    })
  }

  function runIfIdle(): void {
    if (busy) return
    busy = true
    runBatches().then(onIdle, fail)
  }

  async function runBatches(): Promise<void> {
    while (waiting.length > 0 || isDue()) await runBatch(gather())
  }

  function isDue(): boolean {
    return stopping === undefined && nextDueAt !== null && nextDueAt <= clock.now()
  }

  function onIdle(): void {
    busy = false
    if (waiting.length > 0 || isDue()) return runIfIdle()
    if (stopping !== undefined) return stopping()
    clearTimeout(timer)
    if (nextDueAt !== null) timer = setTimeout(runIfIdle, nextDueAt - clock.now())
  }

  function gather(): readonly Submission[] {
    let total = 0
    const end = waiting.findIndex(
      ({ railInstructions }) => (total += railInstructions.length) > INSTRUCTIONS_MAX,
    )
    const count = end === -1 ? waiting.length : Math.max(end, 1)
    const batch = waiting.slice(0, count)
    waiting = waiting.slice(count)
    return batch
  }

  async function runBatch(batch: readonly Submission[]): Promise<void> {
    const [due, found] = await Promise.all([loadDue(), load(batch)])
    const context = { now: clock.now(), random }
    const journalBatch = createJournalBatch([...due, ...found], rules, context)
    for (const entry of due) journalBatch.carryOut(entry)
    const answers = batch.map(({ railInstructions }) =>
      railInstructions
        .map((railInstruction) => journalBatch.decide(railInstruction))
        .filter((answer) => answer !== null),
    )
    const changes = journalBatch.changes()
    for (const { id } of changes.discrepancies) {
      log.error({ instruction_id: id }, 'instruction repeated with different content')
    }
    for (const id of journalBatch.unknownPayments()) {
      log.error({ instruction_id: id }, 'the bank moved money for what the journal does not have')
    }

    crashPoint('rail.decided')
    await journal.write(changes)
    crashPoint('rail.recorded')

    rules.committed()
    recordDue(changes.entries)
    if (journalBatch.reports().length > 0) publish(journalBatch.reports())
    for (const [index, { answer, done }] of batch.entries()) {
      const reports = answers[index] ?? []
      if (reports.length > 0) answer(reports)
      done()
    }
  }

  /** Loads the due entries and notes when the next one is due. */
  async function loadDue(): Promise<readonly Entry[]> {
    if (!isDue()) return []
    const now = clock.now()
    const [due, next] = await Promise.all([
      journal.due(now, INSTRUCTIONS_MAX),
      journal.nextDueAt(now),
    ])
    nextDueAt = due.length === INSTRUCTIONS_MAX ? now : next
    return due
  }

  async function load(batch: readonly Submission[]): Promise<readonly Entry[]> {
    const ids = new Set<string>()
    for (const { railInstructions } of batch) {
      for (const railInstruction of railInstructions) {
        if (railInstruction.kind === 'instruct') ids.add(railInstruction.instruction.id)
        else if (railInstruction.kind !== 'acknowledge') ids.add(railInstruction.id)
      }
    }
    return ids.size === 0 ? [] : journal.find([...ids])
  }

  function recordDue(entries: readonly Entry[]): void {
    for (const { due } of entries) {
      if (due !== null && (nextDueAt === null || due.at < nextDueAt)) nextDueAt = due.at
    }
  }

  async function* unacknowledged(): AsyncGenerator<readonly RailReport[]> {
    let after = ''
    for (;;) {
      const page = await journal.unacknowledged(after, UNACKNOWLEDGED_PAGE)
      yield page.map((entry) => reportOf(entry, entry.reportId))
      const last = page.at(-1)?.reportId
      if (page.length < UNACKNOWLEDGED_PAGE || typeof last !== 'string') return
      after = last
    }
  }

  function stop(): Promise<void> {
    return new Promise((resolve) => {
      stopping = resolve
      clearTimeout(timer)
      runIfIdle()
    })
  }
}
