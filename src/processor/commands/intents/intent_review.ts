/**
 * A reviewer's decision on a confirmed intent that is held because it matches an orphan execution.
 *
 * - An approval submits it with a deadline counted from now; quote and debit stay those of the
 *   confirmation.
 * - An approval names each orphan execution that may have paid it (changes/orphans).
 * - A rejection fails it and releases its money and its limits. One that its own orphan execution
 *   has paid is not rejected.
 */
import { plus } from '../../../base/clock.js'
import { isHeld } from '../../../../actors/hold.js'
import { intentView } from '../../../../actors/intent/view.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { movedByIntent } from '../../changes/books.js'
import { isSuspended } from '../../changes/directory.js'
import { maySubmit } from '../../changes/payment_rail.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { refusalBesideIntent, refusalOfFailure } from '../../changes/orphans.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import { needIntentAndUsage } from './intent_needs.js'

/** @param otherThan orphan executions that the operator says did not pay it */
export function approveIntent(
  actor: Actor,
  intentId: string,
  otherThan: readonly string[] = [],
): Command {
  const named = [...new Set(otherThan)].toSorted()
  return {
    name: 'approve_intent',
    needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
    decide: (ctx) => {
      const live = ctx.memory.intents.get(intentId)
      if (!live) return refuse('payment_intent_not_found')
      if (live.state !== 'authorized' || !isHeld(live.context)) {
        return refuse('payment_intent_not_held')
      }
      if (isSuspended(ctx.memory, live.context.tenant)) return refuse('partner_suspended')
      const equal = refusalBesideIntent(ctx, live.context, named)
      if (equal !== null) return equal
      const moved = movedByIntent(live.context)
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'approve_intent',
        arguments: { intent_id: intentId, ...(named.length === 0 ? {} : { other_than: named }) },
        subject: named.length === 0 ? intentId : `${intentId} other than ${named.join(', ')}`,
        moved,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      advanceIntent(ctx, live, {
        type: 'approve',
        at: ctx.now,
        railUp: maySubmit(ctx, live.context),
        notAfter: plus(ctx.now, ctx.rules.railSubmitTtlMs),
      })
      logAction(ctx, actor, 'approve_intent', intentId, null, moved)
      for (const orphan of named)
        logAction(ctx, actor, 'other_than_orphan', `${orphan} ${intentId}`)
      return answer(intentView(live.state, live.context))
    },
  }
}

export function rejectIntent(actor: Actor, intentId: string): Command {
  return {
    name: 'reject_intent',
    needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
    decide: (ctx) => {
      const live = ctx.memory.intents.get(intentId)
      if (!live) return refuse('payment_intent_not_found')
      if (live.state !== 'authorized' || !isHeld(live.context)) {
        return refuse('payment_intent_not_held')
      }
      const executed = refusalOfFailure(ctx, intentId)
      if (executed !== null) return executed

      // From here on it must succeed.
      advanceIntent(ctx, live, { type: 'reject', at: ctx.now })
      logAction(ctx, actor, 'reject_intent', intentId)
      return answer(intentView(live.state, live.context))
    },
  }
}
