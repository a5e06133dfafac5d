/**
 * Rail movements in the ledger: the entries on the rail's account, each with its instruction.
 *
 * - The posting number of an entry never changes, so it identifies the movement.
 */
import type { Movement } from '../../../protos/types/causeway/operator/v1/Movement.js'
import { INSTRUCTIONS_REQUESTED_MAX } from '../../base/constants.js'
import { toWire } from '../../money/money.js'
import { SANDBOX_RAIL } from '../../rails/rail.js'
import type { MovementPosition, RailMovement } from '../../store/rail_movements.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'

/** Rows per page: a few milliseconds of the read connection, which other lists share. */
export const MOVEMENTS_OF_A_PAGE = 1_000

export interface MovementsView {
  readonly data: readonly Movement[]
  /** Start of the next page; null on the last page. */
  readonly next: MovementPosition | null
}

export function railMovements(after: MovementPosition, to: number): Query {
  return {
    name: 'rail_movements',
    queueKey: 'internal',
    run: async ({ lists }) => {
      const rows = await lists.movements(after, to, MOVEMENTS_OF_A_PAGE)
      const next = rows.length < MOVEMENTS_OF_A_PAGE ? null : (rows.at(-1) ?? null)
      return answer({ data: rows.map(movementView), next } satisfies MovementsView)
    },
  }
}

export function railMovementsOf(instructions: readonly string[]): Query {
  return {
    name: 'rail_movements_of',
    queueKey: 'internal',
    run: async ({ lists }) => {
      if (instructions.length === 0 || instructions.length > INSTRUCTIONS_REQUESTED_MAX) {
        return refuse('invalid_request')
      }
      return answer({ data: (await lists.movementsOf(instructions)).map(movementView) })
    },
  }
}

const movementView = (row: RailMovement): Movement => ({
  id: String(row.posting),
  instruction_id: row.instruction,
  movement: row.amount > 0n ? 'executed' : 'returned',
  currency: row.currency,
  amount: toWire(row.amount > 0n ? row.amount : -row.amount),
  booked_at: String(row.at),
  undone: row.undone === 1,
  rail: row.rail ?? SANDBOX_RAIL,
})
