/**
 * Compares a payment that is accepted and not submitted with the orphan executions, which may have
 * become known since its acceptance. One that matches is held for review.
 *
 * - The lost books have submitted an accepted payment that has an orphan execution of its own: it
 *   counts as submitted, and the rail's answer to the next inquiry ends it. A payout that waits for
 *   an approval still does.
 */
import { instant, isMoment } from '../../../base/clock.js'
import { PREFIX } from '../../../base/ids.js'
import type { IntentContext } from '../../../../actors/intent/context.js'
import type { PayoutContext } from '../../../../actors/payout/context.js'
import { submitted } from '../../../../actors/rail_inquiry.js'
import type { Orphan } from '../../cache/orphan_index.js'
import { advanceIntent, stageIntent } from '../../changes/advance_intent.js'
import { advancePayout, stagePayout } from '../../changes/advance_payout.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import {
  holdFor,
  orphanOfIntent,
  orphanOfPayout,
  ownExecution,
  stageOrphan,
} from '../../changes/orphans.js'
import { answer } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { needIntentAndUsage } from '../intents/intent_needs.js'

export function compareWithOrphans(id: string): Command {
  const isIntent = id.startsWith(PREFIX.intent)
  return {
    name: 'compare_with_orphans',
    needs: (needs, memory) => {
      if (isIntent) needIntentAndUsage(needs, memory, id)
      else needs.payout(id)
    },
    decide: (ctx) => answer({ held: isIntent ? holdIntent(ctx, id) : holdPayout(ctx, id) }),
  }
}

function holdPayout(ctx: CommandContext, id: string): boolean {
  const live = ctx.memory.payouts.get(id)
  if (!live || live.context.submittedAt !== undefined) return false
  if (live.state !== 'created' && live.state !== 'processing') return false
  const own = live.state === 'processing' ? ownExecution(ctx, id) : undefined
  if (own !== undefined) {
    live.context = asSubmitted(ctx, live.context, own)
    stagePayout(ctx, live)
    return false
  }
  const orphan = orphanOfPayout(ctx, live.context)
  if (orphan === undefined) return false
  advancePayout(ctx, live, { type: 'hold', at: ctx.now, heldFor: holdFor(ctx, orphan) })
  return true
}

function holdIntent(ctx: CommandContext, id: string): boolean {
  const live = ctx.memory.intents.get(id)
  if (!live || live.state !== 'authorized') return false
  if (live.context.submittedAt !== undefined) return false
  const own = ownExecution(ctx, id)
  if (own !== undefined) {
    live.context = asSubmitted(ctx, live.context, own)
    stageIntent(ctx, live)
    return false
  }
  const orphan = orphanOfIntent(ctx, live.context)
  if (orphan === undefined) return false
  advanceIntent(ctx, live, { type: 'hold', at: ctx.now, heldFor: holdFor(ctx, orphan) })
  return true
}

/** Resolves the orphan execution: it is that of this payment. */
function asSubmitted<C extends IntentContext | PayoutContext>(
  ctx: CommandContext,
  context: C,
  own: Orphan,
): C {
  const { heldFor } = context
  const at = isMoment(own.executed_at) ? instant(own.executed_at) : ctx.now
  stageOrphan(ctx, { ...own, status: 'resolved', resolved_at: ctx.now })
  logAction(ctx, PROCESSOR, 'resolve_orphan_own', own.instruction, OWN)
  return {
    ...context,
    ...(heldFor === undefined ? {} : { heldFor: { ...heldFor, approvedAt: ctx.now } }),
    ...submitted(at),
  }
}

const OWN = 'these books have the payment of the instruction'
const PROCESSOR: Actor = { name: 'processor', reason: OWN }
