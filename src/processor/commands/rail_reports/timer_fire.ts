/**
 * Fires the timer of an actor.
 *
 * - The actor's own `wakeAt` decides. A timer that fires early, late or twice changes nothing.
 */
import { advanceIntent } from '../../changes/advance_intent.js'
import { advancePayout } from '../../changes/advance_payout.js'
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'
import { needIntentAndUsage } from '../intents/intent_needs.js'

const DONE = answer({})

export function fireIntentTimer(intentId: string): Command {
  return {
    name: 'intent_timer_fire',
    needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
    decide: (ctx) => {
      const live = ctx.memory.intents.get(intentId)
      const wakeAt = live?.context.wakeAt
      if (!live || wakeAt === null || wakeAt === undefined || wakeAt > ctx.now) return DONE
      advanceIntent(ctx, live, { type: 'timer', at: ctx.now, railUp: ctx.railUp })
      return DONE
    },
  }
}

export function firePayoutTimer(payoutId: string): Command {
  return {
    name: 'payout_timer_fire',
    needs: (needs) => needs.payout(payoutId),
    decide: (ctx) => {
      const live = ctx.memory.payouts.get(payoutId)
      const wakeAt = live?.context.wakeAt
      if (!live || wakeAt === null || wakeAt === undefined || wakeAt > ctx.now) return DONE
      advancePayout(ctx, live, { type: 'timer', at: ctx.now, railUp: ctx.railUp })
      return DONE
    },
  }
}
