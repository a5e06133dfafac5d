/**
 * The operator of a restore, who does what the guide says: statement of the rail, orphan
 * executions, release by two operators, then a decision on each orphan execution and each payment
 * that is held.
 *
 * Owns: the order of the steps, the decisions. Does not own: when a step is taken (simulation), the
 * restore (restore).
 *
 * - One call at a time: the next one follows its answer, a restart, or a time without an answer.
 * - Decisions are right: the partner is asked whose payment an execution was (lost_books).
 */
import { instant } from '../../../src/base/clock.js'
import { ANSWER_WITHIN_MS } from '../../../src/base/constants.js'
import type { MovementKind } from '../../../src/base/movements.js'
import {
  approveIntent,
  rejectIntent,
} from '../../../src/processor/commands/intents/intent_review.js'
import { approveRequest } from '../../../src/processor/commands/approvals/approval_request_decide.js'
import { inquire } from '../../../src/processor/commands/operators/inquire.js'
import { addOrphans } from '../../../src/processor/commands/operators/orphan_add.js'
import { resolveOrphan } from '../../../src/processor/commands/operators/orphan_resolve.js'
import {
  releaseRecovery,
  type ReleaseFindings,
} from '../../../src/processor/commands/operators/recovery_release.js'
import {
  approvePayout,
  rejectPayout,
} from '../../../src/processor/commands/payouts/payout_review.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import { createStatementChecker } from '../../../src/processor/recovery/statement_check.js'
import { storedFigures } from '../../../src/processor/recovery/statement_figures.js'
import type { SeededRandom } from '../../fuzz/seeded_random.js'
import { NO_FINDINGS } from '../../support/statements.js'
import { callOfOperator } from '../actions.js'
import type { Row } from '../invariant_checker.js'
import { actor, LINKS, OPERATORS } from '../operators.js'
import type { SimulationContext } from '../simulation_context.js'
import {
  summaryOf,
  takeStatement,
  type OptionalColumn,
  type RailStatement,
} from './rail_statement.js'
import type { Held, Orphan } from './tables.js'

export interface RestoreOperator {
  /** Whether something is left to do, as far as is known. */
  hasWork(): boolean
  /** Makes the next call, if one can be made. */
  act(simulation: SimulationContext): Promise<void>
  /** The books are an older copy. */
  onRestored(): void
  /** The call under way may get no answer. */
  onRestart(simulation: SimulationContext): void
  /** Partners repeat nothing any more: an execution without a payment has none. */
  onEnding(): void
  /** Whether a release is committed since the last call. */
  takeReleased(): boolean
}

const [FIRST, SECOND] = OPERATORS
/** A report of the return contradicts an earlier false one, so the state may never change. */
const INQUIRIES_MAX = 3
const EVIDENCE = 'statement'
const COLUMNS: readonly OptionalColumn[] = ['reference', 'destination_account']
/** What can be returned. */
const PAID = ['captured', 'completed']

export function createRestoreOperator(
  random: SeededRandom,
  isOpen: () => boolean,
): RestoreOperator {
  let isBusy = false
  let isWaiting = false
  let askedAt = 0
  let calls = 0
  let isEnding = false
  let isReleased = false
  let statement: RailStatement | null = null
  let isRecorded = false
  /** Requests for the second operator. */
  let requests: { readonly id: string; readonly onAnswer: (answer: Answer) => void }[] = []
  /** Held payments that differ from their execution. */
  const differing = new Set<string>()
  /** By payment. */
  const inquiries = new Map<string, number>()
  /** The orphan executions that an approval has to name, by payment. */
  const equalTo = new Map<string, readonly string[]>()

  const ask = (
    simulation: SimulationContext,
    command: Command,
    onAnswer: (answer: Answer) => void = () => undefined,
  ): void => {
    isWaiting = true
    askedAt = simulation.processors.clock.now()
    const call = ++calls
    callOfOperator(simulation, {
      commandAt: () => command,
      onAnswer: (answer) => {
        if (call !== calls) return
        isWaiting = false
        if (!answer.ok && 'approvalRequest' in answer)
          requests.push({ id: answer.approvalRequest, onAnswer })
        else onAnswer(answer)
      },
    })
  }

  /** One of two processors can be cut off, or no longer own the books. */
  const giveUpLate = ({ processors }: SimulationContext): void => {
    if (processors.count === 1 || processors.clock.now() - askedAt < ANSWER_WITHIN_MS) return
    isWaiting = false
    calls += 1
  }

  const findingsOf = async (simulation: SimulationContext): Promise<ReleaseFindings> => {
    const { checker, processors, rail, bus } = simulation
    const { newestSubmission } = processors.marks().books
    const statements = createStatementChecker(newestSubmission, (period) =>
      Promise.resolve({ kind: 'summary', summary: summaryOf(rail.entries.values(), period) }),
    )
    const behind = await checker.behind(processors.marks(), rail, bus)
    const { faults } =
      statement === null ? { faults: [] } : await statements.check(statement.figures)
    return { behind, faults, isBusChecked: bus.isUp }
  }

  const approveNext = async (simulation: SimulationContext): Promise<void> => {
    const { id, onAnswer } = requests.shift()!
    const inRecovery = simulation.processors.recovery.isActive()
    const findings = inRecovery ? await findingsOf(simulation) : NO_FINDINGS
    ask(simulation, approveRequest(actor(SECOND), id, { ...LINKS, findings }), onAnswer)
  }

  const recover = async (simulation: SimulationContext): Promise<void> => {
    const { checker, processors, rail, bus, trace } = simulation
    if (!rail.isUp || !bus.isUp) return
    if (statement === null) {
      const states = new Map((await checker.rows()).map(({ id, state }) => [id, state]))
      const newest = await processors.marks().books.newestSubmission()
      const from = instant(newest === null || random.once(3) ? 0 : newest - STATEMENT_MARGIN_MS)
      const isBooked = (id: string, movement: MovementKind): boolean =>
        (movement === 'executed' ? BOOKED : RETURNED).includes(states.get(id) ?? '')
      const without = COLUMNS.filter(() => random.once(5))
      statement = takeStatement(rail.entries.values(), from, isBooked, without)
      trace.add(`statement: ${statement.missing.length} missing`)
      return
    }
    const { figures, missing } = statement
    if (!isRecorded) {
      return ask(simulation, addOrphans(actor(FIRST), missing), (answer) => {
        isRecorded = answer.ok
        if (answer.ok) trace.count('orphans recorded')
      })
    }
    const check = { statement: 'day.csv sha256 00', figures: storedFigures(figures) }
    const command = releaseRecovery(
      actor(FIRST),
      { ...check, railChecked: false, incomplete: false },
      await findingsOf(simulation),
    )
    ask(simulation, command, (answer) => {
      isReleased = answer.ok
      statement = null
      isRecorded = false
      trace.count(answer.ok ? 'released' : `not released: ${answer.code}`)
    })
  }

  const decide = async (simulation: SimulationContext): Promise<void> => {
    const { checker } = simulation
    const orphans = await checker.orphans()
    const held = await checker.held()
    const rows = await checker.rows()
    const known = await checker.discrepancies()
    const possible = [
      ...held.flatMap((payment) => onHeld(simulation, payment, orphans)),
      ...orphans.flatMap((orphan) => onOrphan(simulation, orphan, held, rows)),
      ...rows.flatMap((row) => onPaid(simulation, row, orphans, known)),
    ]
    if (possible.length > 0) random.pick(possible)()
    else isBusy = false
  }

  type Decisions = (() => void)[]

  const dismiss = (simulation: SimulationContext, { instruction, state }: Orphan): void => {
    simulation.trace.count(`orphan dismissed: ${state}`)
    const resolution = { resolution: 'dismissed', paymentId: undefined, evidence: EVIDENCE }
    ask(simulation, resolveOrphan(actor(FIRST), instruction, resolution))
  }

  const reject = (simulation: SimulationContext, { id, kind }: Held): void => {
    simulation.trace.count('held payment rejected')
    ask(
      simulation,
      kind === 'payout' ? rejectPayout(actor(FIRST), id) : rejectIntent(actor(FIRST), id),
    )
  }

  const approve = (simulation: SimulationContext, payment: Held): void => {
    const { id, kind } = payment
    const otherThan = equalTo.get(id) ?? []
    const command = kind === 'payout' ? approvePayout : approveIntent
    ask(simulation, command(actor(FIRST), id, otherThan), (answer) => {
      if (answer.ok) simulation.trace.count('held payment approved')
      else if ('orphans' in answer)
        equalTo.set(
          id,
          answer.orphans.map((named) => named.split(' ')[0]!),
        )
      else if (answer.code === 'invalid_beneficiary') differing.add(id)
    })
  }

  const match = (simulation: SimulationContext, orphan: Orphan, { id }: Held): void => {
    const resolution = { resolution: 'matched', paymentId: id, evidence: EVIDENCE }
    ask(simulation, resolveOrphan(actor(FIRST), orphan.instruction, resolution), (answer) => {
      if (answer.ok) simulation.trace.count('orphan matched')
      else if (answer.code === 'orphan_execution_differs') differing.add(id)
    })
  }

  /** The user pays something else this time: its own execution is of another payment. */
  const onDiffering = (
    simulation: SimulationContext,
    payment: Held,
    orphans: readonly Orphan[],
  ): Decisions => {
    const own = orphans.find(
      ({ instruction, status }) => instruction === payment.id && status === 'open',
    )
    if (own === undefined) return [() => reject(simulation, payment)]
    return own.state === 'accepted' ? [] : [() => dismiss(simulation, own)]
  }

  const onHeld = (
    simulation: SimulationContext,
    payment: Held,
    orphans: readonly Orphan[],
  ): Decisions => {
    const { lost } = simulation
    if (differing.has(payment.id)) return onDiffering(simulation, payment, orphans)
    const own = orphans.filter(({ instruction }) => lost.intentionOf(instruction) === payment.mark)
    const open = own.filter(({ status }) => status === 'open')
    const executed = open.find(({ state }) => state === 'executed')
    if (executed !== undefined) return [() => match(simulation, executed, payment)]
    if (open.some(({ state }) => state === 'accepted')) return []
    if (own.some(({ state }) => state === 'executed') || random.once(6))
      return [() => reject(simulation, payment)]
    return [() => approve(simulation, payment)]
  }

  const onOrphan = (
    simulation: SimulationContext,
    orphan: Orphan,
    held: readonly Held[],
    rows: readonly Row[],
  ): Decisions => {
    const { lost, rail } = simulation
    const { instruction, status, state } = orphan
    if (status !== 'open') return []
    const mark = lost.intentionOf(instruction)
    const entry = rail.entries.get(instruction)
    const isEnded = state === 'refused' || state === 'returned'
    const isStuck = state === 'accepted' && (entry === undefined || isForever(entry))
    const isBooked = rows.some(({ id, state: of }) => id === instruction && BOOKED.includes(of))
    const isUnclaimed = isEnding && state === 'executed' && held.every((of) => of.mark !== mark)
    return isEnded || isStuck || isBooked || isUnclaimed ? [() => dismiss(simulation, orphan)] : []
  }

  /** The bank has returned its money, or executed it under another id, and the report is lost. */
  const onPaid = (
    simulation: SimulationContext,
    { id, state, transactionId }: Row,
    orphans: readonly Orphan[],
    known: ReadonlySet<string>,
  ): Decisions => {
    const { rail } = simulation
    if (!PAID.includes(state) || !rail.isUp) return []
    const matched = orphans.find(({ matchedTo }) => matchedTo === id)
    const instruction = matched?.instruction ?? id
    const entry = rail.entries.get(instruction)
    const isOther = entry?.state === 'executed' && entry.transactionId !== transactionId
    const isLost = entry?.state === 'returned' || (isOther && !known.has(instruction))
    if (!isLost || entry.reportId !== null) return []
    const times = (inquiries.get(id) ?? 0) + 1
    if (rail.falselyReported.has(instruction) && times > INQUIRIES_MAX) return []
    return [
      () => {
        inquiries.set(id, times)
        ask(simulation, inquire(actor(FIRST), id))
      },
    ]
  }

  const beginAgain = (): void => {
    isReleased = false
    statement = null
    isRecorded = false
    requests = []
  }

  return {
    hasWork: () => isBusy || isOpen(),
    act: async (simulation) => {
      if (isWaiting) giveUpLate(simulation)
      if (isWaiting) return
      const { rail, processors } = simulation
      const { recovery } = processors
      if (requests.length > 0) return approveNext(simulation)
      if (recovery.isActive()) return recover(simulation)
      if (random.once(4))
        recovery.inquire({ up: () => rail.isUp, send: (queries) => rail.send(queries) })
      await decide(simulation)
    },
    onRestored: () => {
      isBusy = true
      differing.clear()
      equalTo.clear()
      beginAgain()
    },
    onRestart: ({ processors }) => {
      isWaiting = false
      if (processors.count === 1) return beginAgain()
      // A former owner can still answer.
      calls += 1
    },
    onEnding: () => (isEnding = true),
    takeReleased: () => {
      const was = isReleased
      isReleased = false
      return was
    },
  }
}

/** Clocks differ by less. */
const STATEMENT_MARGIN_MS = 3_600_000

const RETURNED = ['refunded', 'reversed']
const BOOKED = [...PAID, ...RETURNED]

/** Accepted by a bank that never executes it. */
const isForever = ({ state, due }: { readonly state: string; readonly due: object | null }) =>
  state === 'pending' && due === null
