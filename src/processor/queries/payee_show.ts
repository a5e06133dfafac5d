/** The other payments to the payee of one payment. */
import type { IntentContext } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import { isIdOf } from '../../base/ids.js'
import type { Memory } from '../cache/memory.js'
import { answer, refuse } from '../cycle/answer.js'
import { payeeOfIntent, payeesOfPayouts } from './payees.js'
import type { Query } from './query.js'
import { contextIn, viewed } from './readable.js'

export function showPayee(memory: Memory, paymentId: string): Query {
  return {
    name: 'show_payee',
    queueKey: 'internal',
    run: async (ctx) => {
      const isIntent = isIdOf('intent', paymentId)
      const row = await ctx.lists.search.actor(isIntent ? 'intents' : 'payouts', paymentId)
      if (row === undefined) {
        return refuse(isIntent ? 'payment_intent_not_found' : 'payout_not_found')
      }
      const [read] = viewed([row], ctx, () => contextIn(row.id, JSON.parse(row.context)))
      const context = (read?.view ?? null) as IntentContext | PayoutContext | null
      if (context === null) return answer(NOBODY)
      if (!('beneficiary' in context)) {
        return answer((await payeeOfIntent(ctx, memory, context)) ?? NOBODY)
      }
      return answer((await payeesOfPayouts(ctx, [context])).get(context.id)!)
    },
  }
}

const NOBODY = { payee: '', counts: [], counted: 0, more: false, last: [] }
