/**
 * The sandbox rail's cycle: gather, find, decide, write, tell.
 *
 * Owns: the order of things, the timer of what is due. Does not own: decisions (journal_batch,
 * bank), rows (journal), streams (server).
 *
 * - Nothing is told before it is on disk.
 * - Orders are decided in the order of their coming.
 * - One batch is in flight at a time; what comes meanwhile is the next batch.
 * - After a failed write nothing is decided any more: the file may know more than the memory.
 */
import { instant, type Clock, type Instant } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Random } from '../../base/random.js'
import type { RailInstruction, RailReport } from '../rail.js'
import { reportOf, type Entry } from './entry.js'
import { createJournalBatch } from './journal_batch.js'
import type { Journal } from './journal.js'

/** Orders, and due steps, of one write: they share an fsync and do not hold up answers for long. */
const INSTRUCTIONS_MAX = 2_048
const UNACKNOWLEDGED_PAGE = 1_024

export interface CycleOptions {
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly delayMs: number
  /** Takes reports to whoever listens, or to nobody. */
  readonly tell: (railReports: readonly RailReport[]) => void
  /** Told once, when the journal cannot be trusted any more. */
  readonly fail: (error: unknown) => void
}

export interface Cycle {
  /** Carries out what became due while nobody was here, and goes on from there. */
  start(): Promise<void>
  /** Resolves when the orders are on disk and `answer` has been given what there is to say. */
  take(railInstructions: readonly RailInstruction[], answer: Answer): Promise<void>
  /** Reports that waits for its acknowledgement, page by page. */
  unacknowledged(): AsyncGenerator<readonly RailReport[]>
  /** Finishes what was taken; steps that come due are left for the next start. */
  stop(): Promise<void>
}

export type Answer = (reports: readonly RailReport[]) => void

interface Taken {
  readonly railInstructions: readonly RailInstruction[]
  readonly answer: Answer
  readonly done: () => void
}

export function createCycle(options: CycleOptions): Cycle {
  const { journal, clock, random, log, delayMs, tell, fail } = options
  let waiting: Taken[] = []
  let nextDueAt: Instant | null = null
  let timer: NodeJS.Timeout | undefined
  let busy = false
  let stopping: (() => void) | undefined

  return { start, take, unacknowledged, stop }

  async function start(): Promise<void> {
    nextDueAt = await journal.nextDueAt(instant(0))
    wakeUp()
  }

  function take(railInstructions: readonly RailInstruction[], answer: Answer): Promise<void> {
    return new Promise((done) => {
      waiting.push({ railInstructions, answer, done })
      wakeUp()
    })
  }

  function wakeUp(): void {
    if (busy) return
    busy = true
    runBatches().then(rest, fail)
  }

  async function runBatches(): Promise<void> {
    while (waiting.length > 0 || isDue()) await runBatch(gather())
  }

  function isDue(): boolean {
    return stopping === undefined && nextDueAt !== null && nextDueAt <= clock.now()
  }

  function rest(): void {
    busy = false
    if (waiting.length > 0 || isDue()) return wakeUp()
    if (stopping !== undefined) return stopping()
    clearTimeout(timer)
    if (nextDueAt !== null) timer = setTimeout(wakeUp, nextDueAt - clock.now())
  }

  function gather(): readonly Taken[] {
    let railInstructions = 0
    const end = waiting.findIndex(
      (taken) => (railInstructions += taken.railInstructions.length) > INSTRUCTIONS_MAX,
    )
    const count = end === -1 ? waiting.length : Math.max(end, 1)
    const batch = waiting.slice(0, count)
    waiting = waiting.slice(count)
    return batch
  }

  async function runBatch(batch: readonly Taken[]): Promise<void> {
    const [due, found] = await Promise.all([takeDue(), find(batch)])
    const journalBatch = createJournalBatch([...due, ...found], {
      now: clock.now(),
      random,
      delayMs,
    })
    for (const entry of due) journalBatch.carryOut(entry)
    const answers = batch.map(({ railInstructions }) =>
      railInstructions
        .map((railInstruction) => journalBatch.decide(railInstruction))
        .filter((answer) => answer !== null),
    )
    const changes = journalBatch.changes()
    for (const { id } of changes.discrepancies) {
      log.error({ instruction: id }, 'instruction came again with other content')
    }

    await journal.write(changes)

    noteDue(changes.entries)
    if (journalBatch.reports().length > 0) tell(journalBatch.reports())
    for (const [place, { answer, done }] of batch.entries()) {
      const reports = answers[place] ?? []
      if (reports.length > 0) answer(reports)
      done()
    }
  }

  /** What is due, and in the same turn when the next one will be. */
  async function takeDue(): Promise<readonly Entry[]> {
    if (!isDue()) return []
    const now = clock.now()
    const [due, next] = await Promise.all([
      journal.due(now, INSTRUCTIONS_MAX),
      journal.nextDueAt(now),
    ])
    nextDueAt = due.length === INSTRUCTIONS_MAX ? now : next
    return due
  }

  async function find(batch: readonly Taken[]): Promise<readonly Entry[]> {
    const ids = new Set<string>()
    for (const { railInstructions } of batch) {
      for (const railInstruction of railInstructions) {
        if (railInstruction.kind === 'instruct') ids.add(railInstruction.instruction.id)
        else if (railInstruction.kind !== 'acknowledge') ids.add(railInstruction.id)
      }
    }
    return ids.size === 0 ? [] : journal.find([...ids])
  }

  function noteDue(entries: readonly Entry[]): void {
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
      wakeUp()
    })
  }
}
