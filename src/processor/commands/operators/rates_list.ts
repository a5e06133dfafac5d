/** Lists the rates of local currencies for one US dollar, and when they were set. */
import { toRfc3339 } from '../../../base/clock.js'
import { rateToText } from '../../../money/rate.js'
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'
import { DEFAULT_RATES, isTooOld } from '../../../quotes/rates.js'

export function listRates(): Command {
  return {
    name: 'list_rates',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { rates } = ctx.memory
      const set = [...rates].map(([currency, known]) => ({
        currency,
        rate: rateToText(known.rate),
        set_at: toRfc3339(known.setAt),
        is_too_old: isTooOld(ctx, known),
      }))
      const defaults = [...DEFAULT_RATES]
        .filter(([currency]) => !rates.has(currency))
        .map(([currency, rate]) => ({ currency, rate: rateToText(rate) }))
      return answer({ data: [...set, ...defaults] })
    },
  }
}
