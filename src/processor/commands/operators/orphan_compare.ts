/**
 * Compares a payment that is accepted and not submitted with the orphan executions, which may have
 * become known since its acceptance. One that matches is held for review.
 */
import { PREFIX } from '../../../base/ids.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import { advancePayout } from '../../changes/advance_payout.js'
import { holdFor, orphanOfIntent, orphanOfPayout } from '../../changes/orphans.js'
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
  const orphan = orphanOfPayout(ctx, live.context)
  if (orphan === undefined) return false
  advancePayout(ctx, live, { type: 'hold', at: ctx.now, heldFor: holdFor(ctx, orphan) })
  return true
}

function holdIntent(ctx: CommandContext, id: string): boolean {
  const live = ctx.memory.intents.get(id)
  if (!live || live.state !== 'authorized') return false
  if (live.context.submittedAt !== undefined) return false
  const orphan = orphanOfIntent(ctx, live.context)
  if (orphan === undefined) return false
  advanceIntent(ctx, live, { type: 'hold', at: ctx.now, heldFor: holdFor(ctx, orphan) })
  return true
}
