/**
 * The settings for all shards of a cluster: rates, routes without a tenant, the rails of routes,
 * pauses of submissions, callers.
 *
 * Owns: their stored form, applying one in the books of a shard. Does not own: the list of the
 * cluster (store/cluster), reading it (cluster/shared_settings).
 *
 * - A setting is applied by the command that sets it outside a cluster, with the operator's name
 *   and reason. The applied version is in the same commit, so a setting takes effect once.
 * - A rate has the age of its setting, also in a shard that applies it later.
 */
import type { Route__Output as WireRoute } from '../../../../protos/types/causeway/operator/v1/Route.js'
import type { ClusterSetting, NewSetting } from '../../../store/cluster/settings.js'
import { routeNamed } from '../../../rails/rail_table.js'
import { applyCaller, CALLER } from '../callers/caller_setting.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import type { RateChange } from '../../changes/approval_requests.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import {
  rateIn,
  rateSubject,
  ratesIn,
  refusalOfRates,
  setRate,
  setRates,
  type GivenRate,
} from './rate_set.js'
import { refusalOfRouteRail, setRouteRail } from './route_rail_set.js'
import {
  pauseSubmissions,
  refusalOfPause,
  refusalOfResume,
  resumeSubmissions,
} from './submissions_pause.js'
import { refusalOfRoute, routeIn, routeView, setRoute } from './route_set.js'

const RATE = 'rate'
/** Several, set all or none. */
const RATES = 'rates'
const ROUTE = 'route'
const ROUTE_RAIL = 'route_rail'
const SUBMISSIONS = 'submissions'
const [PAUSED, RESUMED] = ['paused', 'resumed']
/** In the books: a version that had no effect there. */
const SKIPPED = 'skipped'

/** What an operator sets, without the operator. */
export type SettingContent = Pick<NewSetting, 'kind' | 'key' | 'value'>

/** Null when it is not valid. */
export function rateSetting(
  currencyText: string,
  rateText: string,
  environment = '',
): SettingContent | null {
  const known = rateIn(environment, currencyText, rateText)
  return known && { kind: RATE, key: rateSubject(known), value: rateText }
}

/** Null when one is not valid. The key names all, so the same ones replace them. */
export function ratesSetting(changes: readonly RateChange[]): SettingContent | null {
  const given = ratesIn(changes)
  const key = given?.map(rateSubject).join(', ')
  return key === undefined ? null : { kind: RATES, key, value: JSON.stringify(changes) }
}

/** The key is `THB`, as it was before rates had an environment, or `production THB`. */
function rateKeyParts(key: string): { readonly environment: string; readonly currency: string } {
  const cut = key.indexOf(' ')
  return { environment: key.slice(0, Math.max(0, cut)), currency: key.slice(cut + 1) }
}

function ratesOfSetting({ kind, key, value }: SettingContent): readonly GivenRate[] | null {
  if (kind === RATES) return ratesIn(JSON.parse(value) as RateChange[])
  const { environment, currency } = rateKeyParts(key)
  const rate = kind === RATE ? rateIn(environment, currency, value) : null
  return rate && [rate]
}

/** Null when it is not valid. */
export function routeSetting(given: WireRoute): SettingContent | null {
  const route = routeIn(null, given)
  if (route === null) return null
  const { country, currency } = route
  return { kind: ROUTE, key: `${country} ${currency}`, value: JSON.stringify(routeView(route)) }
}

/** Null when it is not valid. */
export function routeRailSetting(routeText: string, rail: string): SettingContent | null {
  const route = routeNamed(routeText)
  return route && { kind: ROUTE_RAIL, key: route, value: rail }
}

export const pauseSetting = (subject: string): SettingContent => ({
  ...{ kind: SUBMISSIONS, key: subject, value: PAUSED },
})

export const resumeSetting = (subject: string): SettingContent => ({
  ...{ kind: SUBMISSIONS, key: subject, value: RESUMED },
})

/** Whether the operator may store a setting; a request for an approval is all that it changes. */
export function checkSetting(
  actor: Actor,
  { kind, key, value }: SettingContent,
  force: boolean,
): Command {
  return {
    name: 'check_setting',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const rates = ratesOfSetting({ kind, key, value })
      const route = kind === ROUTE ? routeIn(null, JSON.parse(value) as WireRoute) : null
      if (rates !== null) return refusalOfRates(ctx, actor, rates, force) ?? answer({})
      if (route !== null) return refusalOfRoute(ctx, actor, route) ?? answer(routeView(route))
      if (kind === SUBMISSIONS) {
        const refusal =
          value === PAUSED ? refusalOfPause(ctx, key) : refusalOfResume(ctx, actor, key)
        return refusal ?? answer({ subject: key })
      }
      const ofRail = kind === ROUTE_RAIL ? routeNamed(key) : null
      if (ofRail !== null) {
        const view = { route: ofRail, rail: value }
        return refusalOfRouteRail(ctx, actor, ofRail, value) ?? answer(view)
      }
      return refuse('invalid_request')
    },
  }
}

/** @param after the version that the books must have */
export function applySetting(setting: ClusterSetting, after: number): Command {
  const { version, kind, key, value, at, actor } = setting
  return {
    name: 'apply_setting',
    needs: () => undefined,
    decide: (ctx) => {
      if (ctx.memory.settingsVersion !== after) return refuse('invalid_request')
      const command = commandOf(setting)
      if (command === null) return refuse('invalid_request')
      const changed = command.decide(ctx)
      if (!changed.ok) return changed

      // From here on it must succeed.
      ctx.memory.settingsVersion = version
      const row = { version, kind, key, value, set_at: at, actor, applied_at: ctx.now }
      ctx.batch.stage('appliedSettings', `${version}`, row)
      return answer({})
    },
  }
}

/** Skips a setting that cannot be applied. The log names the operator who decided so. */
export function passOverSetting(setting: ClusterSetting, after: number): Command {
  const { version, kind, key, at, actor, skippedBy, skipReason } = setting
  return {
    name: 'pass_over_setting',
    needs: () => undefined,
    decide: (ctx) => {
      if (ctx.memory.settingsVersion !== after || skippedBy === null)
        return refuse('invalid_request')

      // From here on it must succeed.
      ctx.memory.settingsVersion = version
      const row = { version, kind: SKIPPED, key: `${kind} ${key}`, value: '', set_at: at, actor }
      ctx.batch.stage('appliedSettings', `${version}`, { ...row, applied_at: ctx.now })
      const by = { name: skippedBy, reason: skipReason ?? '' }
      logAction(ctx, by, 'skip_setting', `version ${version}: ${kind} ${key}`)
      return answer({})
    },
  }
}

/** Null means that the kind is of a later version of the program. */
function commandOf({ version, kind, key, value, at, actor, reason }: ClusterSetting) {
  const by = { name: actor, reason }
  const source = { setAt: at, evidence: `settings version ${version}` }
  switch (kind) {
    case RATE: {
      const { environment, currency } = rateKeyParts(key)
      return setRate(by, currency, value, { force: true, source, environment })
    }
    case RATES:
      return setRates(by, JSON.parse(value) as RateChange[], { force: true, source })
    case ROUTE:
      return setRoute(by, null, JSON.parse(value) as WireRoute, source)
    case SUBMISSIONS:
      if (value === PAUSED) return pauseSubmissions(by, key, source)
      return value === RESUMED ? resumeSubmissions(by, key, source) : null
    case ROUTE_RAIL:
      return setRouteRail(by, key, value, source)
    case CALLER:
      return applyCaller(by, value, source)
    default:
      return null
  }
}
