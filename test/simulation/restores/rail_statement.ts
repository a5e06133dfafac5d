/** The rail's statement of a period, and the rail's own figures of it, from its journal. */
import type { OrphanExecution__Output as OrphanExecution } from '../../../protos/types/causeway/operator/v1/OrphanExecution.js'
import { instant, type Instant } from '../../../src/base/clock.js'
import { ACCEPTED, createMovementTally, type MovementKind } from '../../../src/base/movements.js'
import type { StatementFigures } from '../../../src/processor/recovery/statement_check.js'
import type { Entry } from '../../../src/rails/adapter/entry.js'
import type { MovementPeriod, MovementSummary } from '../../../src/rails/rail.js'

export interface RailStatement {
  readonly figures: StatementFigures
  /** What the books do not have: executions, returns, and accepted instructions. */
  readonly missing: readonly OrphanExecution[]
}

interface Movement {
  readonly entry: Entry
  readonly movement: MovementKind
  readonly at: Instant
}

/** The columns that a statement need not have. */
export type OptionalColumn = 'reference' | 'destination_account'

/**
 * @param from of the first line
 * @param without not in this statement
 * @param isBooked whether the books have this movement of the instruction
 */
export function takeStatement(
  entries: Iterable<Entry>,
  from: Instant,
  isBooked: (instruction: string, movement: MovementKind) => boolean,
  without: readonly OptionalColumn[],
): RailStatement {
  const all = [...entries]
  const moved = movementsOf(all).filter(({ at }) => at >= from)
  const times = moved.map(({ at }) => at)
  const pending = all.filter(({ state }) => state === 'pending')
  const missing = moved.filter(
    ({ entry: { id, state }, movement }) => state === movement && !isBooked(id, movement),
  )
  return {
    figures: {
      ...tallyOf(moved),
      accepted: acceptedOf(pending),
      span:
        times.length === 0
          ? null
          : { first: instant(Math.min(...times)), last: instant(Math.max(...times)) },
    },
    missing: [...missing.map(({ entry }) => entry), ...pending].map((entry) => {
      const orphan = orphanOf(entry)
      for (const column of without) delete orphan[column]
      return orphan
    }),
  }
}

export function summaryOf(entries: Iterable<Entry>, { from, to }: MovementPeriod): MovementSummary {
  const all = [...entries]
  const moved = movementsOf(all)
  const newest = moved.toSorted((one, other) => other.at - one.at)[0]
  return {
    ...tallyOf(moved.filter(({ at }) => at >= from && at < to)),
    newest:
      newest === undefined
        ? null
        : { instruction: newest.entry.id, movement: newest.movement, at: newest.at },
    accepted: acceptedOf(all.filter(({ state }) => state === 'pending')),
  }
}

const movementsOf = (entries: readonly Entry[]): Movement[] =>
  entries.flatMap((entry): Movement[] => [
    ...(entry.executedAt === null
      ? []
      : [{ entry, movement: 'executed' as const, at: entry.executedAt }]),
    ...(entry.returnedAt === null
      ? []
      : [{ entry, movement: 'returned' as const, at: entry.returnedAt }]),
  ])

function tallyOf(moved: readonly Movement[]) {
  const tally = createMovementTally()
  for (const { entry, movement } of moved) {
    const { id, currency, amount } = entry
    tally.add({ instruction: id, movement, currency, amount })
  }
  return tally.figures()
}

function acceptedOf(pending: readonly Entry[]) {
  const tally = createMovementTally()
  for (const { id, currency, amount } of pending)
    tally.add({ instruction: id, movement: ACCEPTED, currency, amount })
  return tally.figures()
}

const orphanOf = (entry: Entry): OrphanExecution => ({
  instruction_id: entry.id,
  environment: entry.environment ?? 'sandbox',
  purpose: entry.purpose,
  destination_account: entry.account,
  amount: entry.amount.toString(),
  currency: entry.currency,
  reference: entry.reference ?? '',
  transaction_id: entry.transactionId ?? '',
  executed_at: String(entry.returnedAt ?? entry.executedAt ?? entry.receivedAt),
  state: entry.state === 'pending' ? ACCEPTED : entry.state,
})
