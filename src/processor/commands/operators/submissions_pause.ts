/**
 * Pauses and resumes the submissions of a rail, a corridor or an environment, and lists the pauses.
 *
 * - A pause only restricts: one operator sets it, at once. A resume sends what has waited: it needs
 *   a second operator.
 * - A pause with an impossible moment stays, and is named. Pausing again, or resuming, replaces it.
 * - A pause is a row, so it outlives restarts. A setting of a cluster is applied as it is.
 */
import { instant, isMoment, toRfc3339 } from '../../../base/clock.js'
import { invalid } from '../../../base/errors.js'
import { named } from '../../../base/corrupt_row.js'
import type { Row } from '../../../store/tables.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { isPausable } from '../../changes/submission_pauses.js'
import { answer, refuse, type Answer } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { areMoments } from '../../cache/stored_moments.js'
import type { SettingSource } from './rate_set.js'

type Pause = Row<'submissionPauses'>

/** @param source null if it is set in these books only */
export function pauseSubmissions(
  actor: Actor,
  subject: string,
  source: SettingSource | null = null,
): Command {
  return {
    name: 'pause_submissions',
    allowedInRecovery: true, // nothing leaves at the release
    needs: () => undefined,
    decide: (ctx) => {
      const refusal = source === null ? refusalOfPause(ctx, subject) : null
      if (refusal !== null) return refusal

      // From here on it must succeed.
      const { name, reason } = actor
      const at = pausedAt(ctx, subject) ?? source?.setAt ?? ctx.now
      const pause: Pause = { subject, reason, actor: name, paused_at: at, resumed_at: null }
      ctx.memory.pauses.set(subject, pause)
      ctx.batch.stage('submissionPauses', subject, pause)
      logAction(ctx, actor, 'pause_submissions', subject, source?.evidence)
      return answer(pauseView(pause))
    },
  }
}

/** @param source null if it is set in these books only */
export function resumeSubmissions(
  actor: Actor,
  subject: string,
  source: SettingSource | null = null,
): Command {
  return {
    name: 'resume_submissions',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const refusal = source === null ? refusalOfResume(ctx, actor, subject) : null
      if (refusal !== null) return refusal

      // From here on it must succeed.
      const pause = ctx.memory.pauses.get(subject)
      const resumed: Pause = {
        ...{ subject, reason: actor.reason, actor: actor.name },
        ...pause,
        paused_at: pausedAt(ctx, subject) ?? ctx.now,
        resumed_at: source?.setAt ?? ctx.now,
      }
      ctx.memory.pauses.delete(subject)
      ctx.batch.stage('submissionPauses', subject, resumed)
      logAction(ctx, actor, 'resume_submissions', subject, source?.evidence)
      return answer(pauseView(resumed))
    },
  }
}

const NOT_PAUSABLE = invalid(
  '/subject',
  'must be a rail of RAILS_FILE, a corridor or an environment',
)

/** Null means that submissions of the subject may be paused. */
export const refusalOfPause = ({ rules }: CommandContext, subject: string): Answer | null =>
  isPausable(subject, rules.rails) ? null : NOT_PAUSABLE

/** The refusal of one operator to resume. Null means that the actor may do it now. */
export function refusalOfResume(ctx: CommandContext, actor: Actor, subject: string): Answer | null {
  if (!ctx.memory.pauses.has(subject)) return refuse('submissions_not_paused')
  return refusalOfOneOperator(ctx, actor, {
    operation: 'resume_submissions',
    arguments: { subject },
    subject,
    moved: null,
  })
}

export function listSubmissionPauses(): Command {
  return {
    name: 'list_submission_pauses',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory }) => answer({ data: [...memory.pauses.values()].map(pauseView) }),
  }
}

/** Undefined means that it is not paused, or the moment is impossible. */
function pausedAt({ memory }: CommandContext, subject: string): number | undefined {
  const at = memory.pauses.get(subject)?.paused_at
  return at !== undefined && isMoment(at) ? at : undefined
}

function pauseView({ subject, reason, actor, paused_at, resumed_at }: Pause): object {
  const common = { subject, reason, actor }
  if (!areMoments(paused_at, resumed_at)) return { ...common, ...named(`pause of ${subject}`) }
  return {
    ...common,
    paused_at: toRfc3339(instant(paused_at)),
    ...(resumed_at === null ? {} : { resumed_at: toRfc3339(instant(resumed_at)) }),
  }
}
