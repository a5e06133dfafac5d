/**
 * Sets and removes rates of local currencies for one US dollar, in one environment or both.
 * Existing quotes keep their rate.
 *
 * - Several are set all or none.
 * - A removed rate is as if it had never been set: the sandbox has its default again, production
 *   none. It only restricts, so one operator does it.
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
import type { Row } from '../../../store/tables.js'
import { DEFAULT_RATES, rateKey } from '../../../quotes/rates.js'
import { dayOf } from '../../cache/single_handed_sums.js'
import { refusalOfOneOperator, type RateChange } from '../../changes/approval_requests.js'
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
  /** Absent means that it is set now, in these books only. */
  readonly source?: SettingSource
}

export function setRate(
  actor: Actor,
  currency: string,
  rate: string,
  { environment = '', ...options }: RateOptions & { readonly environment?: string } = {},
): Command {
  return rateCommand('set_rate', () => listed(rateIn(environment, currency, rate)), actor, options)
}

export function setRates(
  actor: Actor,
  changes: readonly RateChange[],
  options: RateOptions = {},
): Command {
  return rateCommand('set_rates', () => ratesIn(changes), actor, options)
}

const listed = (given: GivenRate | null): readonly GivenRate[] | null => given && [given]

function rateCommand(
  name: string,
  read: () => readonly GivenRate[] | null,
  actor: Actor,
  { force = false, source }: RateOptions,
): Command {
  return {
    name,
    allowedInRecovery: true, // before the release: retries must get the rates of the lost time
    needs: () => undefined,
    decide: (ctx) => {
      const given = read()
      if (given === null) return refuse('invalid_request')
      if (source === undefined) {
        const refusal = refusalOfRates(ctx, actor, given, force)
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      const setAt = source?.setAt ?? ctx.now
      for (const each of given) {
        for (const environment of each.environments) {
          if (each.rate === null) stageRemoval(ctx, actor, environment, each.currency, setAt)
          else stageRate(ctx, actor, environment, { ...each, rate: each.rate }, setAt)
        }
        const action = each.rate === null ? 'remove_rate' : 'set_rate'
        logAction(ctx, actor, action, subjectOf(each), source?.evidence)
      }
      return answer({})
    },
  }
}

function stageRate(
  { memory, batch }: CommandContext,
  actor: Actor,
  environment: Environment,
  { currency, rate, text }: GivenRate & { readonly rate: Rate },
  setAt: Instant,
): void {
  const known = memory.rates.get(rateKey(environment, currency))
  const before = openingAt(known, setAt)
  const isKept = before !== null && !isGuardedRate(before.rate, rate)
  const opening = isKept ? before : { rate, at: setAt }
  stageRow(memory, batch, environment, {
    ...{ currency, rate: text, set_at: setAt, actor: actor.name },
    opening_rate: rateToText(opening.rate),
    opened_at: opening.at,
    before_rate: known?.removedAt === null ? rateToText(known.rate) : null,
    removed_at: null,
  })
}

/** Keeps what changes of the day are compared with. Nothing to do when it is not set. */
function stageRemoval(
  { memory, batch }: CommandContext,
  actor: Actor,
  environment: Environment,
  currency: Currency,
  at: Instant,
): void {
  const known = memory.rates.get(rateKey(environment, currency))
  if (known?.removedAt !== null) return
  stageRow(memory, batch, environment, {
    ...{ currency, rate: rateToText(known.rate), set_at: known.setAt, actor: actor.name },
    opening_rate: rateToText(known.opening.rate),
    opened_at: known.opening.at,
    before_rate: known.before,
    removed_at: at,
  })
}

function stageRow(
  memory: CommandContext['memory'],
  batch: CommandContext['batch'],
  environment: Environment,
  row: Row<'rates'>,
): void {
  rememberRate(memory, environment, row)
  batch.stage(environment === 'production' ? 'rates' : 'sandboxRates', row.currency, row)
}

/** The refusal of one operator to set them. Null if the actor may do it now. */
export function refusalOfRates(
  ctx: CommandContext,
  actor: Actor,
  given: readonly GivenRate[],
  force: boolean,
): Answer | null {
  if (given.some((each) => each.rate === null && !isSomewhereSet(ctx, each))) {
    return refuse('invalid_request')
  }
  if (!given.some((each) => isGuarded(ctx, each))) return null
  if (ctx.rules.secondOperator === null) return force ? null : refuse('rate_change_unconfirmed')
  const changes = given.map((each) => changeOf(each))
  const [only, another] = changes
  const subject = given.map(subjectOf).join(', ')
  return only === undefined || another !== undefined
    ? refusalOfOneOperator(ctx, actor, {
        ...{ operation: 'set_rates', arguments: { rates: changes }, subject, moved: null },
      })
    : refusalOfOneOperator(ctx, actor, {
        ...{ operation: 'set_rate', arguments: only, subject, moved: null },
      })
}

const isSomewhereSet = ({ memory }: CommandContext, { environments, currency }: GivenRate) =>
  environments.some((each) => memory.rates.get(rateKey(each, currency))?.removedAt === null)

/** Whether it is a change that one operator may not make unconfirmed. */
function isGuarded(ctx: CommandContext, { environments, currency, rate }: GivenRate): boolean {
  if (rate === null) return false
  return environments.some((environment) => {
    const known = ctx.memory.rates.get(rateKey(environment, currency))
    const before = openingAt(known, ctx.now)?.rate ?? null
    if (ctx.rules.secondOperator !== null) return isGuardedRate(before, rate)
    const compared = before ?? DEFAULT_RATES.get(currency)
    return compared !== undefined && isGuardedRate(compared, rate)
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
  /** Null means that it is removed. */
  readonly rate: Rate | null
  /** The rate as it was given. Empty means that it is removed. */
  readonly text: string
}

const changeOf = (given: GivenRate): RateChange => ({
  ...{ currency: given.currency, rate: given.text },
  ...environmentIn(given),
})

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

const subjectOf = (given: GivenRate): string => `${rateSubject(given)} ${given.text}`.trimEnd()

const RATES_MAX = 200

/** Null when one of them is not valid, or is given twice. */
export function ratesIn(changes: readonly RateChange[]): readonly GivenRate[] | null {
  if (changes.length === 0 || changes.length > RATES_MAX) return null
  const given: GivenRate[] = []
  const keys = new Set<string>()
  for (const { environment = '', currency, rate } of changes) {
    const each =
      rate === '' ? removalIn(environment, currency) : rateIn(environment, currency, rate)
    if (each === null) return null
    for (const one of each.environments) {
      const key = rateKey(one, each.currency)
      if (keys.has(key)) return null
      keys.add(key)
    }
    given.push(each)
  }
  return given
}

/**
 * Null when it is not valid.
 * @param environment empty means both
 */
export function rateIn(environment: string, currencyText: string, text: string): GivenRate | null {
  const given = removalIn(environment, currencyText)
  const rate = parseRate(text)
  return given === null || rate === undefined ? null : { ...given, rate, text }
}

function removalIn(environment: string, currencyText: string): GivenRate | null {
  if (environment !== '' && !isEnvironment(environment)) return null
  const currency = currencyOf(currencyText)
  if (currency === undefined || currency === 'USD') return null
  const environments = environment === '' ? ENVIRONMENTS : [environment]
  return { environments, currency, rate: null, text: '' }
}
