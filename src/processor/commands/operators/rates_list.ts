/** Lists the rates of local currencies for one US dollar: who set them, when, and those before. */
import { toRfc3339 } from '../../../base/clock.js'
import { named } from '../../../base/corrupt_row.js'
import { rateToText } from '../../../money/rate.js'
import type { KnownRate } from '../../cache/memory.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'
import { DEFAULT_RATES, isSet, isTooOld, rateKey } from '../../../quotes/rates.js'

export function listRates(): Command {
  return {
    name: 'list_rates',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { rates } = ctx.memory
      const set = [...rates.values()].filter(isSet).map((known) => rateView(ctx, known))
      const defaults: Listed[] = [...DEFAULT_RATES]
        .filter(([currency]) => rates.get(rateKey('sandbox', currency))?.removedAt !== null)
        .map(([currency, rate]) => ({
          ...{ environment: 'sandbox', currency, rate: rateToText(rate) },
        }))
      return answer({ data: [...set, ...defaults].sort(byCurrency) })
    },
  }
}

function rateView(ctx: CommandContext, known: KnownRate): Listed {
  const { environment, currency } = known
  const common = { environment, currency, is_too_old: isTooOld(ctx, known) }
  if (known.isCorrupt) return { ...common, ...named(`rate ${environment} ${currency}`) }
  return {
    ...common,
    rate: rateToText(known.rate),
    set_at: toRfc3339(known.setAt),
    ...(known.actor === null ? {} : { set_by: known.actor }),
    ...(known.before === null ? {} : { before: known.before }),
  }
}

interface Listed {
  readonly currency: string
  readonly environment: string
  readonly [member: string]: unknown
}

const byCurrency = (one: Listed, other: Listed): number =>
  textOrder(one.currency, other.currency) || textOrder(one.environment, other.environment)

const textOrder = (one: string, other: string): number => (one < other ? -1 : Number(one > other))
