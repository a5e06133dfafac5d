/** Sets the rate of a local currency for one US dollar. Existing quotes keep their rate. */
import { currencyOf } from '../../../money/currency.js'
import { parseRate } from '../../../money/rate.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { logAction, type Actor } from '../../changes/operator_log.js'

export function setRate(actor: Actor, currencyText: string, rateText: string): Command {
  return {
    name: 'set_rate',
    needs: () => undefined,
    decide: (ctx) => {
      const currency = currencyOf(currencyText)
      const rate = parseRate(rateText)
      if (currency === undefined || rate === undefined) return refuse('invalid_request')
      if (currency === 'USD') return refuse('invalid_request')

      // From here on it must succeed.
      ctx.memory.rates.set(currency, { rate, setAt: ctx.now })
      ctx.batch.stage('rates', currency, { currency, rate: rateText, set_at: ctx.now })
      logAction(ctx, actor, 'set_rate', `${currency} ${rateText}`)
      return answer({})
    },
  }
}
