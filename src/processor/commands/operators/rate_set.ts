/** Sets the rate of a local currency for one US dollar. Existing quotes keep their rate. */
import type { Instant } from '../../../base/clock.js'
import { currencyOf, type Currency } from '../../../money/currency.js'
import { parseRate, type Rate } from '../../../money/rate.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { logAction, type Actor } from '../../changes/operator_log.js'

/** Of a setting for all shards of a cluster. */
export interface SettingSource {
  readonly setAt: Instant
  readonly evidence: string
}

/** @param source null: it is set now, in these books only */
export function setRate(
  actor: Actor,
  currencyText: string,
  rateText: string,
  source: SettingSource | null = null,
): Command {
  return {
    name: 'set_rate',
    needs: () => undefined,
    decide: (ctx) => {
      const known = rateIn(currencyText, rateText)
      if (known === null) return refuse('invalid_request')
      const { currency, rate } = known
      const setAt = source?.setAt ?? ctx.now

      // From here on it must succeed.
      ctx.memory.rates.set(currency, { rate, setAt })
      ctx.batch.stage('rates', currency, { currency, rate: rateText, set_at: setAt })
      logAction(ctx, actor, 'set_rate', `${currency} ${rateText}`, source?.evidence)
      return answer({})
    },
  }
}

/** Null when it is not valid. */
export function rateIn(
  currencyText: string,
  rateText: string,
): { readonly currency: Currency; readonly rate: Rate } | null {
  const currency = currencyOf(currencyText)
  const rate = parseRate(rateText)
  if (currency === undefined || rate === undefined || currency === 'USD') return null
  return { currency, rate }
}
