/** What one US dollar is worth in local currencies, and since when. */
import { toRfc3339 } from '../../base/clock.js'
import { rateToText } from '../../money/rate.js'
import type { Command } from '../cycle/command.js'
import { answer } from '../cycle/answer.js'
import { usableRate } from '../memory/rates.js'

export function listRates(): Command {
  return {
    name: 'list_rates',
    needs: () => undefined,
    decide: (desk) =>
      answer({
        data: [...desk.memory.rates].map(([currency, { rate, setAt }]) => ({
          currency,
          rate: rateToText(rate),
          set_at: toRfc3339(setAt),
          is_too_old: usableRate(desk, currency) === null,
        })),
      }),
  }
}
