/** The other payments to the payee of one payment. */
import { payoutContextIn } from '../../../actors/payout/context.js'
import { intentContextIn } from '../../../actors/intent/context.js'
import { isIdOf } from '../../base/ids.js'
import type { Memory } from '../cache/memory.js'
import { answer, refuse } from '../cycle/answer.js'
import { payeeOfIntent, payeesOfPayouts } from './payees.js'
import type { Query } from './query.js'
import { contextOf, viewed } from './readable.js'

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
      const read = <C extends { readonly id: string }>(
        contextIn: (stored: unknown) => C | null,
      ): C | null =>
        viewed([row], ctx, () => contextOf(row.id, contextIn(JSON.parse(row.context))))[0]!.view
      if (isIntent) {
        const intent = read(intentContextIn)
        return answer((intent && (await payeeOfIntent(ctx, memory, intent))) ?? NOBODY)
      }
      const payout = read(payoutContextIn)
      return answer(
        payout === null ? NOBODY : (await payeesOfPayouts(ctx, [payout])).get(payout.id)!,
      )
    },
  }
}

const NOBODY = { payee: '', counts: [], counted: 0, more: false, last: [] }
