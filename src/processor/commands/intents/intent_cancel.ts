/**
 * Cancels an intent that is created, or authorized and not yet submitted. One that lost books have
 * submitted is not: the rail has executed it.
 */
import type { TenantId } from '../../../base/ids.js'
import { intentTransitions } from '../../../../actors/intent/machine.js'
import { intentView } from '../../../../actors/intent/view.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import { ownExecution } from '../../changes/orphans.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { needIntentAndUsage } from './intent_needs.js'

export function cancelIntent(tenant: TenantId, intentId: string): Command {
  return {
    name: 'cancel_intent',
    needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
    decide: (ctx) => {
      const live = ctx.memory.intents.get(intentId)
      if (!live || live.context.tenant !== tenant) return refuse('payment_intent_not_found')
      const event = { type: 'cancel', at: ctx.now } as const
      const isLate = live.state === 'created' && ctx.now >= live.context.expiresAt
      const isAtRail = live.state === 'authorized' && ownExecution(ctx, intentId) !== undefined
      if (isLate || isAtRail || intentTransitions.step(live.state, live.context, event) === null) {
        return refuse('payment_intent_not_cancelable')
      }

      // From here on it must succeed.
      advanceIntent(ctx, live, event)
      return answer(intentView(live.state, live.context))
    },
  }
}
