/**
 * Ends recovery mode: an operator has reconciled the rail and accepts what the books lost.
 *
 * - The row on disk is released; this process goes on refusing and starts anew, so that timers, the
 *   relay and the links to rail and pools begin with the released books.
 * - No event position and no number of a tenant's events is used twice: the next ones are beyond
 *   all that the lost books can have used. The row tells which ones are left out.
 * - What the bus, the pools and the rail know and the books lost is named here, once: from now on
 *   it is no longer held against the books.
 */
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import type { Behind } from '../../recovery/marks.js'

/** More events than any books have lost; positions stay below 2^53 for millions of recoveries. */
export const SKIPPED_POSITIONS = 1_000_000_000

export interface Checked {
  /** The rail's statement that was reconciled: its name and digest. */
  readonly statement: string | undefined
  /** Without a statement: the rail was checked by other means. */
  readonly railChecked: boolean
}

export function releaseRecovery(
  actor: Actor,
  { statement, railChecked }: Checked,
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
        if (mark.kind === 'high_water') continue // the next epoch is above it
        const { kind, id } = mark
        batch.stage('acceptedLosses', `${kind} ${id}`, { kind, id, at: now })
      }
      const evidence = statement ?? 'the rail was checked without a statement'
      logAction(ctx, actor, 'release_recovery', `${released.number}`, evidence)
      return answer({ recovery: released.number, loss })
    },
  }
}
