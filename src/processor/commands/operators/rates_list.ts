/** Lists the rates of local currencies for one US dollar: who set them, when, and those before. */
import { toRfc3339 } from '../../../base/clock.js'
import { rateToText } from '../../../money/rate.js'
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'
import { DEFAULT_RATES, isSet, isTooOld, rateKey } from '../../../quotes/rates.js'

export function listRates(): Command {
  return {
    name: 'list_rates',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { rates } = ctx.memory
      const set = [...rates.values()].filter(isSet).map((known) => ({
        environment: known.environment,
        currency: known.currency,
        rate: rateToText(known.rate),
        set_at: toRfc3339(known.setAt),
        is_too_old: isTooOld(ctx, known),
        ...(known.actor === null ? {} : { set_by: known.actor }),
        ...(known.before === null ? {} : { before: known.before }),
      }))
      const defaults = [...DEFAULT_RATES]
        .filter(([currency]) => rates.get(rateKey('sandbox', currency))?.removedAt !== null)
        .map(([currency, rate]) => ({
          ...{ environment: 'sandbox', currency, rate: rateToText(rate) },
        }))
      return answer({ data: [...set, ...defaults].sort(byCurrency) })
    },
  }
}

interface Listed {
  readonly currency: string
  readonly environment: string
}

const byCurrency = (one: Listed, other: Listed): number =>
  textOrder(one.currency, other.currency) || textOrder(one.environment, other.environment)

const textOrder = (one: string, other: string): number => (one < other ? -1 : Number(one > other))
