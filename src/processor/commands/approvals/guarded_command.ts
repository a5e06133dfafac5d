/** The command of a guarded change, from its stored arguments. */
import type { Route__Output as WireRoute } from '../../../../protos/types/causeway/operator/v1/Route.js'
import type { Callers } from '../../../auth/callers.js'
import type { TenantId } from '../../../base/ids.js'
import type { ApprovalRequest, GuardedArguments } from '../../changes/approval_requests.js'
import type { Actor } from '../../changes/operator_log.js'
import type { GuardedOperation } from '../../changes/second_operator.js'
import type { Command } from '../../cycle/command.js'
import { createCaller } from '../callers/caller_create.js'
import { rotateCaller } from '../callers/caller_rotate.js'
import { deposit } from '../funds/deposit.js'
import { correctDeposit } from '../funds/deposit_correct.js'
import { withdraw } from '../funds/withdraw.js'
import { resolveIntent, reverseIntent } from '../intents/intent_resolve.js'
import { approveIntent } from '../intents/intent_review.js'
import { resolveOrphan } from '../operators/orphan_resolve.js'
import { setRate, setRates } from '../operators/rate_set.js'
import { releaseRecovery, type ReleaseFindings } from '../operators/recovery_release.js'
import { setRouteRail } from '../operators/route_rail_set.js'
import { resumeSubmissions } from '../operators/submissions_pause.js'
import { setRoute } from '../operators/route_set.js'
import {
  checkSetting,
  rateSetting,
  ratesSetting,
  resumeSetting,
  routeRailSetting,
  routeSetting,
  type SettingContent,
} from '../operators/shared_setting.js'
import { issueKey } from '../partners/key_issue.js'
import { eraseUser } from '../partners/user_erase.js'
import { resolvePayout, reversePayout } from '../payouts/payout_resolve.js'
import { approvePayout } from '../payouts/payout_review.js'
import { resolveDiscrepancy } from '../rail_reports/discrepancy_resolve.js'

/** What guarded commands depend on besides their arguments. */
export interface GuardedLinks {
  readonly callers: Callers
  /** What the approved release of a recovery has found. */
  readonly findings: ReleaseFindings
  /** Whether settings for all partners are stored for all shards of a cluster. */
  readonly isCluster: boolean
}

interface Guarded<O extends GuardedOperation> {
  /** The member of the answer that holds the result. */
  readonly result: string
  command(actor: Actor, given: GuardedArguments[O], links: GuardedLinks): Command
}

/** The setting for all shards that the arguments describe. Null if it is about the own books. */
const settingOf = {
  set_route: ({ tenant, route }: GuardedArguments['set_route']): SettingContent | null =>
    tenant === null ? routeSetting(route as WireRoute) : null,
  set_rate: ({
    currency,
    rate,
    environment,
  }: GuardedArguments['set_rate']): SettingContent | null =>
    rateSetting(currency, rate, environment),
  set_rates: ({ rates }: GuardedArguments['set_rates']): SettingContent | null =>
    ratesSetting(rates),
  set_route_rail: ({ route, rail }: GuardedArguments['set_route_rail']): SettingContent | null =>
    routeRailSetting(route, rail),
  resume_submissions: ({ subject }: GuardedArguments['resume_submissions']): SettingContent =>
    resumeSetting(subject),
} as const

/** The member of the answer that holds the setting. */
const RESULTS = {
  set_route: 'route',
  set_rate: 'rate',
  set_rates: 'rate',
  set_route_rail: 'route_rail',
  resume_submissions: 'submission_pause',
} as const
type SettingOperation = keyof typeof RESULTS
const isSetting = (operation: string): operation is SettingOperation =>
  Object.hasOwn(RESULTS, operation)

/** What an approved request stores for all shards. */
export interface ApprovedSetting {
  /** The member of the answer that holds it. */
  readonly result: (typeof RESULTS)[SettingOperation] | 'caller'
  readonly content: SettingContent
}

/** @param caller the approved caller, which has its setting. Null if the request stores none */
export function approvedSetting(
  operation: string,
  given: string,
  caller: object | null,
): ApprovedSetting | null {
  const { setting } = (caller ?? {}) as { readonly setting?: SettingContent }
  if (setting !== undefined) return { result: 'caller', content: setting }
  if (!isSetting(operation)) return null
  const content = settingOf[operation](JSON.parse(given) as never)
  return content && { result: RESULTS[operation], content }
}

const GUARDED: { readonly [O in GuardedOperation]: Guarded<O> } = {
  approve_payout: {
    result: 'payout',
    command: (actor, { payout_id, other_than }) => approvePayout(actor, payout_id, other_than),
  },
  resolve_payout: {
    result: 'payout',
    command: (actor, { payout_id, ...found }) => resolvePayout(actor, payout_id, found),
  },
  reverse_payout: {
    result: 'payout',
    command: (actor, { payout_id, evidence }) => reversePayout(actor, payout_id, evidence),
  },
  approve_intent: {
    result: 'reviewed_intent',
    command: (actor, { intent_id, other_than }) => approveIntent(actor, intent_id, other_than),
  },
  resolve_intent: {
    result: 'intent',
    command: (actor, { intent_id, ...found }) => resolveIntent(actor, intent_id, found),
  },
  reverse_intent: {
    result: 'intent',
    command: (actor, { intent_id, evidence }) => reverseIntent(actor, intent_id, evidence),
  },
  deposit: {
    result: 'deposit',
    command: (actor, { tenant, idempotency_key: idempotencyKey, ...funds }) =>
      deposit(actor, tenant as TenantId, { ...funds, idempotencyKey }),
  },
  withdraw: {
    result: 'withdrawal',
    command: (actor, { tenant, idempotency_key: idempotencyKey, ...given }) =>
      withdraw(actor, tenant as TenantId, { ...given, idempotencyKey }),
  },
  correct_deposit: {
    result: 'deposit_correction',
    command: (actor, { tenant, deposit_id, idempotency_key: idempotencyKey, ...given }) =>
      correctDeposit(actor, tenant as TenantId, deposit_id, { ...given, idempotencyKey }),
  },
  resolve_discrepancy: {
    result: 'discrepancy',
    command: (actor, { discrepancy_id, ...settlement }) =>
      resolveDiscrepancy(actor, discrepancy_id, settlement),
  },
  resolve_orphan: {
    result: 'orphan',
    command: (actor, { instruction_id, payment_id: paymentId, evidence }) =>
      resolveOrphan(actor, instruction_id, { resolution: 'matched', paymentId, evidence }),
  },
  release_recovery: {
    result: 'release',
    command: (actor, { statement, rail_checked: railChecked, ...given }, { findings }) => {
      const { figures = null, incomplete = false } = given
      return releaseRecovery(actor, { statement, figures, railChecked, incomplete }, findings)
    },
  },
  issue_key: {
    result: 'key',
    command: (actor, { tenant, public_key }) => issueKey(actor, tenant as TenantId, public_key),
  },
  erase_user: {
    result: 'user_erasure',
    command: (actor, { tenant, intent_id }) => eraseUser(actor, tenant as TenantId, intent_id),
  },
  set_route: {
    result: 'route',
    command: (actor, given, { isCluster }) => {
      const content = isCluster ? settingOf.set_route(given) : null
      if (content !== null) return checkSetting(actor, content, true)
      return setRoute(actor, given.tenant as TenantId | null, given.route as WireRoute)
    },
  },
  set_rate: {
    result: 'rate',
    command: (actor, given, { isCluster }) => {
      const content = isCluster ? settingOf.set_rate(given) : null
      if (content !== null) return checkSetting(actor, content, true)
      const { currency, rate, environment = '' } = given
      return setRate(actor, currency, rate, { force: true, environment })
    },
  },
  set_rates: {
    result: 'rate',
    command: (actor, given, { isCluster }) => {
      const content = isCluster ? settingOf.set_rates(given) : null
      if (content !== null) return checkSetting(actor, content, true)
      return setRates(actor, given.rates, { force: true })
    },
  },
  resume_submissions: {
    result: 'submission_pause',
    command: (actor, given, { isCluster }) =>
      isCluster
        ? checkSetting(actor, settingOf.resume_submissions(given), true)
        : resumeSubmissions(actor, given.subject),
  },
  set_route_rail: {
    result: 'route_rail',
    command: (actor, given, { isCluster }) => {
      const content = isCluster ? settingOf.set_route_rail(given) : null
      if (content !== null) return checkSetting(actor, content, true)
      return setRouteRail(actor, given.route, given.rail)
    },
  },
  create_caller: {
    result: 'caller',
    command: (actor, { certificate, token_sha256, ...given }, { callers, isCluster }) => {
      const credential = {
        ...(certificate === null ? {} : { certificate }),
        ...(token_sha256 === null ? {} : { tokenSha256: token_sha256 }),
      }
      return createCaller(actor, callers, { ...given, ...credential }, isCluster)
    },
  },
  rotate_caller: {
    result: 'caller',
    command: (actor, { name, token_sha256 }, { callers, isCluster }) =>
      rotateCaller(actor, callers, name, token_sha256, isCluster),
  },
}

export function guardedCommand(
  request: ApprovalRequest,
  approver: Actor,
  links: GuardedLinks,
): { readonly result: string; readonly command: Command } {
  const guarded = GUARDED[request.operation as GuardedOperation] as Guarded<GuardedOperation>
  const given = JSON.parse(request.arguments) as never
  const actor: Actor = { ...approver, approves: request }
  return { result: guarded.result, command: guarded.command(actor, given, links) }
}
