/**
 * Releases recovery mode after an operator has reconciled the rail and accepts the loss.
 *
 * - Only the row on disk is released. This process keeps refusing writes and restarts, so that
 *   timers, the relay and the connections to rail and pools start from the released books.
 * - No event position and no sequence of a tenant is used twice: the next ones are above all that
 *   the lost books can have used. The row names the skipped positions.
 * - The events and instructions that bus, pools and rail have and the books lost are recorded as
 *   accepted losses, so later starts no longer count them as being behind.
 */
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import type { Behind } from '../../recovery/marks.js'

/** More events than a copy can lack; positions stay below 2^53 for millions of recoveries. */
export const SKIPPED_POSITIONS = 1_000_000_000

export interface RailCheck {
  /** Name and digest of the reconciled rail statement. */
  readonly statement: string | undefined
  /** True when the rail was checked without a statement. */
  readonly railChecked: boolean
}

export function releaseRecovery(
  actor: Actor,
  { statement, railChecked }: RailCheck,
  behind: readonly Behind[],
): Command {
  return {
    name: 'release_recovery',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { memory, batch, now } = ctx
      const { recovery } = memory
      const isChecked = statement === undefined ? railChecked : statement.trim() !== ''
      if (!isChecked) return refuse('invalid_request')
      if (recovery === null || recovery.released_at !== null) return refuse('recovery_not_active')
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'release_recovery',
        arguments: {
          recovery: recovery.number,
          statement: statement ?? null,
          rail_checked: railChecked,
        },
        subject: `${recovery.number} ${statement ?? 'without a statement'}`,
        funds: null,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      const loss = behind.map(({ reason }) => reason)
      const released = {
        ...recovery,
        released_at: now,
        statement: statement ?? null,
        loss,
        position_from: memory.lastPosition,
        position_to: memory.lastPosition + SKIPPED_POSITIONS,
      }
      memory.recovery = released
      batch.stage('recoveries', String(released.number), released)
      for (const { mark } of behind) {
        if (mark.kind === 'high_water') continue // the next epoch is above the mark
        const { kind, id } = mark
        batch.stage('acceptedLosses', `${kind} ${id}`, { kind, id, at: now })
      }
      const evidence = statement ?? 'the rail was checked without a statement'
      logAction(ctx, actor, 'release_recovery', `${released.number}`, evidence)
      return answer({ recovery: released.number, loss })
    },
  }
}
