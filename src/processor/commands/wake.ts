/**
 * A timer came: an actor wanted to be woken about now.
 *
 * W1. The actor's own `wakeAt` is the truth. A timer that is early, late or twice changes nothing
 *     and is done.
 */
import { advanceIntent } from '../changes/advance_intent.js'
import { advancePayout } from '../changes/advance_payout.js'
import type { Command } from '../cycle/command.js'
import { answer } from '../cycle/answer.js'
import { needIntentAndUsage } from './intent_needs.js'

const DONE = answer({})

export function wakeIntent(intentId: string): Command {
  return {
    name: 'wake_intent',
    needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
    decide: (desk) => {
      const live = desk.memory.intents.get(intentId)
      const wakeAt = live?.context.wakeAt
      if (!live || wakeAt === null || wakeAt === undefined || wakeAt > desk.now) return DONE
      advanceIntent(desk, live, { type: 'wake', at: desk.now, railUp: desk.railUp })
      return DONE
    },
  }
}

export function wakePayout(payoutId: string): Command {
  return {
    name: 'wake_payout',
    needs: (needs) => needs.payout(payoutId),
    decide: (desk) => {
      const live = desk.memory.payouts.get(payoutId)
      const wakeAt = live?.context.wakeAt
      if (!live || wakeAt === null || wakeAt === undefined || wakeAt > desk.now) return DONE
      advancePayout(desk, live, { type: 'wake', at: desk.now, railUp: desk.railUp })
      return DONE
    },
  }
}
