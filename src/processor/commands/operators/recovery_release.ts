/**
 * Releases recovery mode after an operator has reconciled the rail and accepts the loss.
 *
 * - A statement that differs from what the rail has moved (recovery/statement_check) is refused. An
 *   operator can accept it as incomplete; its faults are then part of the accepted loss.
 * - Nothing is released before the bus is compared with the books: a loss that it shows later is
 *   not accepted, and would end each next start. A rail may come later: it is not used until then.
 * - Only the row on disk is released. This process keeps refusing writes and restarts, so that
 *   timers, the relay and the connections to rail and pools start from the released books.
 * - No event position, sequence of a tenant or number of a posting is used twice: the next ones are
 *   above all that the lost books can have used. That holds also when the same copy, or an older
 *   one, is restored again: the longer ago the copy ends, the more are skipped, up to half of the
 *   numbers that are left. The row names the skipped positions.
 * - The events and instructions that bus, pools and rail have and the books lost are recorded as
 *   accepted losses, so later starts no longer count them as being behind.
 */
import { countIn } from '../../../base/movements.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import type { Behind } from '../../recovery/marks.js'
import { readFigures, type StoredFigures } from '../../recovery/statement_figures.js'

/** More events than a copy can lack. */
export const SKIPPED_POSITIONS = 1_000_000_000
/**
 * More events than books commit on average, of all that have continued the same copy; and so many
 * that, of the same copy, one release is above several that followed each other minutes before.
 */
export const SKIPPED_PER_MS = 10_000
/** Receivers of the bus and readers of the feed of events take numbers of 15 digits. */
const NUMBER_MAX = 999_999_999_999_999

export interface RailCheck {
  /** Name and digest of the reconciled rail statement. Null if the rail was checked without one. */
  readonly statement: string | null
  readonly figures: StoredFigures | null
  /** True when the rail was checked without a statement. */
  readonly railChecked: boolean
  /** True to release in spite of the faults of the statement. */
  readonly incomplete: boolean
}

/** What is known when the release is decided. */
export interface ReleaseFindings {
  readonly behind: readonly Behind[]
  /** Why the statement cannot be right (recovery/statement_check). */
  readonly faults: readonly string[]
  /** False means that what the bus has is not known yet. */
  readonly isBusChecked: boolean
}

export function releaseRecovery(
  actor: Actor,
  check: RailCheck,
  { behind, faults, isBusChecked }: ReleaseFindings,
): Command {
  const { statement, figures, railChecked, incomplete } = check
  return {
    name: 'release_recovery',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { memory, batch, now } = ctx
      const { recovery } = memory
      if (!isComplete(check)) return refuse('invalid_request')
      if (recovery === null || recovery.released_at !== null) return refuse('recovery_not_active')
      if (!isBusChecked) return refuse('bus_not_checked')
      if (faults.length > 0 && !incomplete) return refuse('statement_refused')
      const checked = describe(check)
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'release_recovery',
        arguments: {
          recovery: recovery.number,
          statement,
          rail_checked: railChecked,
          figures,
          incomplete,
        },
        subject: `${recovery.number} ${checked}`,
        moved: null,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      const loss = [
        ...behind.map(({ reason }) => reason),
        ...faults.map((fault) => `the statement is incomplete: ${fault}`),
      ]
      const released = {
        ...recovery,
        released_at: now,
        statement,
        loss,
        position_from: memory.lastPosition,
        position_to: memory.lastPosition + skippedPositions(ctx, recovery.entered_at),
      }
      memory.recovery = released
      batch.stage('recoveries', String(released.number), released)
      for (const { mark } of behind) {
        if (mark.kind === 'high_water') continue // the next epoch is above the mark
        const { kind, id } = mark
        batch.stage('acceptedLosses', `${kind} ${id}`, { kind, id, at: now })
      }
      logAction(ctx, actor, 'release_recovery', `${released.number}`, checked)
      return answer({ recovery: released.number, loss })
    },
  }
}

/**
 * Books without an event, a posting or a release say nothing about the age of the copy. At most
 * half of the numbers that are left are skipped: a clock that is years off uses up none of them.
 */
function skippedPositions({ memory, now }: CommandContext, enteredAt: number): number {
  const { lastNumberedAt, lastPosition, lastPosting, sequences } = memory
  const copyEndsAt = Math.max(0, lastNumberedAt ?? enteredAt)
  const wanted = SKIPPED_POSITIONS + SKIPPED_PER_MS * Math.max(0, now - copyEndsAt)
  const last = Math.max(lastPosition, lastPosting, memory.skippedSequences, ...sequences.values())
  return Math.min(wanted, Math.max(0, Math.floor((NUMBER_MAX - last) / 2)))
}

function isComplete({ statement, figures, railChecked }: RailCheck): boolean {
  if (statement === null) return railChecked && figures === null
  return statement.trim() !== '' && figures !== null && readFigures(figures) !== null
}

/** For the list of requests and the action log. */
function describe({ statement, figures, incomplete }: RailCheck): string {
  if (statement === null || figures === null) return 'without a statement'
  const accepted = incomplete ? ', accepted as incomplete' : ''
  return `${statement}, ${countIn(figures)} movements${accepted}`
}
