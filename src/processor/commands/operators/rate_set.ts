/**
 * Sets the rate of a local currency for one US dollar. Existing quotes keep their rate.
 *
 * - A change of more than 5 % is often a misplaced decimal point, and a way to take a partner's
 *   money: it needs a second operator, or where none is set, a confirmation. Changes of a UTC day
 *   are compared with its opening rate, so many small ones are not a way around it.
 * - A rate that was accepted beyond 5 % is the opening rate from then on.
 */
import type { Instant } from '../../../base/clock.js'
import { currencyOf, type Currency } from '../../../money/currency.js'
import { parseRate, rateToText, type Rate } from '../../../money/rate.js'
import type { KnownRate } from '../../cache/memory.js'
import { DEFAULT_RATES } from '../../../quotes/rates.js'
import { dayOf } from '../../cache/single_handed_sums.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { isGuardedRate } from '../../changes/second_operator.js'
import { answer, refuse, type Answer } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'

/** Where a setting for all shards comes from. It was checked when it was stored. */
export interface SettingSource {
  readonly setAt: Instant
  readonly evidence: string
}

export interface RateOptions {
  /** Confirms a change of more than 5 % where no second operator is set. */
  readonly force?: boolean
  /** Absent: it is set now, in these books only. */
  readonly source?: SettingSource
}

export function setRate(
  actor: Actor,
  currencyText: string,
  rateText: string,
  { force = false, source }: RateOptions = {},
): Command {
  return {
    name: 'set_rate',
    allowedInRecovery: true, // before the release: retries must get the rates of the lost time
    needs: () => undefined,
    decide: (ctx) => {
      const given = rateIn(currencyText, rateText)
      if (given === null) return refuse('invalid_request')
      const { currency, rate } = given
      if (source === undefined) {
        const refusal = refusalOfRate(ctx, actor, given, { rateText, force })
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      const setAt = source?.setAt ?? ctx.now
      const before = openingAt(ctx.memory.rates.get(currency), setAt)
      const isKept = before !== null && !isGuardedRate(before.rate, rate)
      const opening = isKept ? before : { rate, at: setAt }
      ctx.memory.rates.set(currency, { rate, setAt, opening })
      ctx.batch.stage('rates', currency, {
        currency,
        rate: rateText,
        set_at: setAt,
        opening_rate: rateToText(opening.rate),
        opened_at: opening.at,
      })
      logAction(ctx, actor, 'set_rate', `${currency} ${rateText}`, source?.evidence)
      return answer({})
    },
  }
}

/** The refusal of one operator to set it. Null if the actor may set it now. */
export function refusalOfRate(
  ctx: CommandContext,
  actor: Actor,
  { currency, rate }: GivenRate,
  { rateText, force }: { readonly rateText: string; readonly force: boolean },
): Answer | null {
  const before = openingAt(ctx.memory.rates.get(currency), ctx.now)?.rate ?? null
  if (ctx.rules.secondOperator === null) {
    const compared = before ?? DEFAULT_RATES.get(currency)
    const isUsual = compared === undefined || !isGuardedRate(compared, rate)
    return isUsual || force ? null : refuse('rate_change_unconfirmed')
  }
  if (!isGuardedRate(before, rate)) return null
  return refusalOfOneOperator(ctx, actor, {
    operation: 'set_rate',
    arguments: { currency, rate: rateText },
    subject: `${currency} ${rateText}`,
    moved: null,
  })
}

/** The rate at the beginning of the UTC day of `at`. Null if there was none. */
function openingAt(known: KnownRate | undefined, at: Instant): KnownRate['opening'] | null {
  if (known === undefined) return null
  return dayOf(known.opening.at) < dayOf(at) ? { rate: known.rate, at } : known.opening
}

export interface GivenRate {
  readonly currency: Currency
  readonly rate: Rate
}

/** Null when it is not valid. */
export function rateIn(currencyText: string, rateText: string): GivenRate | null {
  const currency = currencyOf(currencyText)
  const rate = parseRate(rateText)
  if (currency === undefined || rate === undefined || currency === 'USD') return null
  return { currency, rate }
}
