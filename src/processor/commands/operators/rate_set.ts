/**
 * Sets the rate of a local currency for one US dollar, in one environment or both. Existing quotes
 * keep their rate.
 *
 * - A change of more than 5 % is often a misplaced decimal point, and a way to take a partner's
 *   money: it needs a second operator, or where none is set, a confirmation. Changes of a UTC day
 *   are compared with its opening rate, so many small ones are not a way around it.
 * - A rate that was accepted beyond 5 % is the opening rate from then on.
 */
import type { Instant } from '../../../base/clock.js'
import { ENVIRONMENTS, isEnvironment, type Environment } from '../../../base/ids.js'
import { currencyOf, type Currency } from '../../../money/currency.js'
import { parseRate, rateToText, type Rate } from '../../../money/rate.js'
import { rememberRate, type KnownRate } from '../../cache/memory.js'
import { DEFAULT_RATES, rateKey } from '../../../quotes/rates.js'
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
  /** Empty or absent: both. */
  readonly environment?: string
}

export function setRate(
  actor: Actor,
  currencyText: string,
  rateText: string,
  { force = false, source, environment = '' }: RateOptions = {},
): Command {
  return {
    name: 'set_rate',
    allowedInRecovery: true, // before the release: retries must get the rates of the lost time
    needs: () => undefined,
    decide: (ctx) => {
      const given = rateIn(environment, currencyText, rateText)
      if (given === null) return refuse('invalid_request')
      if (source === undefined) {
        const refusal = refusalOfRate(ctx, actor, given, force)
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      const setAt = source?.setAt ?? ctx.now
      for (const each of given.environments) stageRate(ctx, actor, each, given, setAt)
      logAction(ctx, actor, 'set_rate', subjectOf(given), source?.evidence)
      return answer({})
    },
  }
}

function stageRate(
  { memory, batch }: CommandContext,
  actor: Actor,
  environment: Environment,
  { currency, rate, text }: GivenRate,
  setAt: Instant,
): void {
  const known = memory.rates.get(rateKey(environment, currency))
  const before = openingAt(known, setAt)
  const isKept = before !== null && !isGuardedRate(before.rate, rate)
  const opening = isKept ? before : { rate, at: setAt }
  const row = {
    ...{ currency, rate: text, set_at: setAt, actor: actor.name },
    opening_rate: rateToText(opening.rate),
    opened_at: opening.at,
    before_rate: known === undefined ? null : rateToText(known.rate),
  }
  rememberRate(memory, environment, row)
  batch.stage(environment === 'production' ? 'rates' : 'sandboxRates', currency, row)
}

/** The refusal of one operator to set it. Null if the actor may set it now. */
export function refusalOfRate(
  ctx: CommandContext,
  actor: Actor,
  given: GivenRate,
  force: boolean,
): Answer | null {
  const { environments, currency, rate, text } = given
  const before = environments.map((environment) => {
    const known = ctx.memory.rates.get(rateKey(environment, currency))
    return openingAt(known, ctx.now)?.rate ?? null
  })
  if (ctx.rules.secondOperator === null) {
    const isUsual = before.every((known) => {
      const compared = known ?? DEFAULT_RATES.get(currency)
      return compared === undefined || !isGuardedRate(compared, rate)
    })
    return isUsual || force ? null : refuse('rate_change_unconfirmed')
  }
  if (!before.some((known) => isGuardedRate(known, rate))) return null
  return refusalOfOneOperator(ctx, actor, {
    operation: 'set_rate',
    arguments: { currency, rate: text, ...environmentIn(given) },
    subject: subjectOf(given),
    moved: null,
  })
}

/** The rate at the beginning of the UTC day of `at`. Null if there was none. */
function openingAt(known: KnownRate | undefined, at: Instant): KnownRate['opening'] | null {
  if (known === undefined) return null
  return dayOf(known.opening.at) < dayOf(at) ? { rate: known.rate, at } : known.opening
}

export interface GivenRate {
  readonly environments: readonly Environment[]
  readonly currency: Currency
  readonly rate: Rate
  /** The rate as it was given. */
  readonly text: string
}

/** The environment, unless it is both. */
function environmentIn({ environments }: GivenRate): { readonly environment?: Environment } {
  const [environment, other] = environments
  return environment === undefined || other !== undefined ? {} : { environment }
}

/** `THB` for both environments, `production THB` for one: also the key of its setting. */
export function rateSubject(given: GivenRate): string {
  const { environment } = environmentIn(given)
  return environment === undefined ? given.currency : rateKey(environment, given.currency)
}

const subjectOf = (given: GivenRate): string => `${rateSubject(given)} ${given.text}`

/**
 * Null when it is not valid.
 * @param environment empty: both
 */
export function rateIn(environment: string, currencyText: string, text: string): GivenRate | null {
  if (environment !== '' && !isEnvironment(environment)) return null
  const currency = currencyOf(currencyText)
  const rate = parseRate(text)
  if (currency === undefined || rate === undefined || currency === 'USD') return null
  const environments = environment === '' ? ENVIRONMENTS : [environment]
  return { environments, currency, rate, text }
}
