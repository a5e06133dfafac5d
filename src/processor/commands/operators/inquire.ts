/**
 * An operator inquires about a payment at its rail now, instead of waiting for the next inquiry.
 *
 * - It sends what a timer would send: the inquiry of a submitted payment without an outcome, or
 *   again the recall without an answer. The schedule of the timer stays as it is.
 * - A payment that is paid is inquired about too: restored books can lack a return that was
 *   reported and acknowledged, which the rail does not report again by itself.
 * - It is refused while the rail is not connected, so that the operator knows that nothing was
 *   sent.
 */
import type { IntentContext } from '../../../../actors/intent/context.js'
import type { PayoutContext } from '../../../../actors/payout/context.js'
import { isIdOf } from '../../../base/ids.js'
import type { LiveIntent, LivePayout } from '../../cache/memory.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { railUp } from '../../changes/payment_rail.js'
import { sendQuery, sendRecall } from '../../changes/rail_instructions.js'
import { answer, refuse, type Answer } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { needIntentAndUsage } from '../intents/intent_needs.js'

export function inquire(actor: Actor, paymentId: string): Command {
  const isIntent = isIdOf('intent', paymentId)
  return {
    name: 'inquire',
    needs: (needs, memory) =>
      isIntent ? needIntentAndUsage(needs, memory, paymentId) : needs.payout(paymentId),
    decide: (ctx) => {
      if (isIntent) {
        const live = ctx.memory.intents.get(paymentId)
        if (!live) return refuse('payment_intent_not_found')
        if (!isIntentAtRail(live)) return refuse('payment_intent_not_at_rail')
        return sent(ctx, actor, live.context, isRecalled(live) ? sendRecall : sendQuery)
      }
      const live = ctx.memory.payouts.get(paymentId)
      if (!live) return refuse('payout_not_found')
      if (!isPayoutAtRail(live)) return refuse('payout_not_at_rail')
      return sent(ctx, actor, live.context, sendQuery)
    },
  }
}

const isIntentAtRail = ({ state, context }: LiveIntent): boolean =>
  state === 'captured' || (state === 'authorized' && context.submittedAt !== undefined)

const isRecalled = ({ state, context }: LiveIntent): boolean =>
  state === 'captured' && context.recall !== undefined && context.recall.refused !== true

const isPayoutAtRail = ({ state, context }: LivePayout): boolean =>
  state === 'completed' || (state === 'processing' && context.submittedAt !== undefined)

function sent<C extends IntentContext | PayoutContext>(
  ctx: CommandContext,
  actor: Actor,
  context: C,
  send: (ctx: CommandContext, context: C) => void,
): Answer {
  if (!railUp(ctx, context)) return refuse('rail_unavailable')
  send(ctx, context)
  logAction(ctx, actor, 'inquire', context.id)
  return answer({})
}
