/**
 * A timer came: an actor wanted to be woken about now.
 *
 * W1. The actor's own `wakeAt` is the truth. A timer that is early, late or twice changes nothing
 *     and is done.
 * W2. Where an instruction may go out, an account that does not open is found out before anything
 *     has changed.
 */
import { advanceIntent } from '../changes/advance_intent.js'
import { advancePayout } from '../changes/advance_payout.js'
import { instructIntent, instructPayout } from '../changes/orders.js'
import type { Command, Desk } from '../cycle/command.js'
import { answer } from '../cycle/answer.js'
import type { LiveIntent, LivePayout } from '../memory/memory.js'
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
      if (live.state === 'authorized' && mayGoOut(desk, live)) instructIntent(desk, live.context)
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
      if (live.state === 'processing' && mayGoOut(desk, live)) instructPayout(desk, live.context)
      advancePayout(desk, live, { type: 'wake', at: desk.now, railUp: desk.railUp })
      return DONE
    },
  }
}

function mayGoOut({ railUp, now }: Desk, { context }: LiveIntent | LivePayout): boolean {
  const notAfter = 'confirmation' in context ? context.confirmation?.notAfter : undefined
  const isLate = notAfter !== undefined && now >= notAfter
  return railUp && context.handedOverAt === undefined && !isLate
}
