/** The operators' service; every change except EnsureDemo carries an actor and a reason. */
import type { OperatorHandlers } from '../../../../protos/types/causeway/operator/v1/Operator.js'
import type { Route } from '../../../../protos/types/causeway/operator/v1/Route.js'
import type { SetRouteRequest__Output as SetRoute } from '../../../../protos/types/causeway/operator/v1/SetRouteRequest.js'
import { setBalanceAlert } from '../../commands/funds/balance_alert_set.js'
import { deposit } from '../../commands/funds/deposit.js'
import { correctDeposit } from '../../commands/funds/deposit_correct.js'
import { withdraw } from '../../commands/funds/withdraw.js'
import { DEMO, ensureDemo } from '../../commands/partners/demo_ensure.js'
import { issueKey } from '../../commands/partners/key_issue.js'
import { createPartner } from '../../commands/partners/partner_create.js'
import {
  pauseSetting,
  rateSetting,
  ratesSetting,
  resumeSetting,
  routeRailSetting,
  routeSetting,
} from '../../commands/operators/shared_setting.js'
import { setRate, setRates } from '../../commands/operators/rate_set.js'
import { listRates } from '../../commands/operators/rates_list.js'
import { setRouteRail } from '../../commands/operators/route_rail_set.js'
import { listRoutes, setRoute } from '../../commands/operators/route_set.js'
import {
  listSubmissionPauses,
  pauseSubmissions,
  resumeSubmissions,
} from '../../commands/operators/submissions_pause.js'
import { trialBalance } from '../../commands/operators/trial_balance.js'
import { archivePayments } from '../../commands/retention/payments_archive.js'
import { listArchivable } from '../../queries/archivable_list.js'
import { find } from '../../queries/find.js'
import type { WebhookPools } from '../../queries/webhook_pools.js'
import { momentOf } from '../period.js'
import { sharedSetting, type SettingLog } from './shared_settings.js'
import { placedCall, type Placements } from '../placed_call.js'
import { paymentCalls } from './payments.js'
import { systemCalls } from './system.js'
import {
  actingAs,
  operatorWork,
  ownWork,
  tenantIn,
  unary,
  unaryQuery,
  type UnaryDependencies,
} from '../unary_handler.js'

export function operatorService(
  dependencies: UnaryDependencies,
  pools: WebhookPools,
  placements?: Placements,
  cluster?: SettingLog,
  system = systemCalls(() => ({})),
): OperatorHandlers {
  const { memory } = dependencies
  const setRouteHere = unary<SetRoute, Route>(dependencies, ({ actor, route }) => {
    const tenant = route?.tenant ? tenantIn(memory, route.tenant) : undefined
    if (route === null || tenant === null) return null
    return operatorWork(actor, (a) => setRoute(a, tenant ?? null, route))
  })
  const setDefaultRoute = sharedSetting<SetRoute, Route>(
    dependencies,
    cluster,
    ({ route }) => {
      const content = route && routeSetting(route)
      return content && { content, view: JSON.parse(content.value) as Route }
    },
    setRouteHere,
  )
  return {
    ...system,
    CreatePartner: placedCall(
      placements,
      (request) => request.partner_id,
      unary(dependencies, ({ actor, partner_id, no_funds, corridors }) =>
        operatorWork(actor, (a) =>
          createPartner(a, partner_id, { corridors, withFunds: !no_funds }),
        ),
      ),
    ),
    IssueKey: unary(dependencies, ({ actor, tenant: named, public_key: publicKey }) => {
      const tenant = tenantIn(memory, named)
      return ownWork(
        tenant === null ? null : actingAs(actor, (a) => issueKey(a, tenant, publicKey)),
      )
    }),
    Deposit: unary(dependencies, ({ actor, tenant: named, currency, amount, idempotency_key }) => {
      const tenant = tenantIn(memory, named)
      const request = { currency, amount, idempotencyKey: idempotency_key }
      return ownWork(tenant === null ? null : actingAs(actor, (a) => deposit(a, tenant, request)))
    }),
    Withdraw: unary(dependencies, ({ actor, tenant: named, ...given }) => {
      const tenant = tenantIn(memory, named)
      const { currency, amount, evidence, idempotency_key: idempotencyKey } = given
      const request = { currency, amount, evidence, idempotencyKey }
      return ownWork(tenant === null ? null : actingAs(actor, (a) => withdraw(a, tenant, request)))
    }),
    CorrectDeposit: unary(dependencies, ({ actor, tenant: named, deposit_id, ...given }) => {
      const tenant = tenantIn(memory, named)
      const { currency, amount, evidence, idempotency_key: idempotencyKey } = given
      const request = { currency, amount, evidence, idempotencyKey }
      return ownWork(
        tenant === null
          ? null
          : actingAs(actor, (a) => correctDeposit(a, tenant, deposit_id, request)),
      )
    }),
    SetRate: sharedSetting(
      dependencies,
      cluster,
      ({ currency, rate, environment }) => {
        const content = rateSetting(currency, rate, environment)
        return content && { content, view: {} }
      },
      unary(dependencies, ({ actor, currency, rate, force, environment }) =>
        operatorWork(actor, (a) => setRate(a, currency, rate, { force, environment })),
      ),
    ),
    SetRates: sharedSetting(
      dependencies,
      cluster,
      ({ rates }) => {
        const content = ratesSetting(rates)
        return content && { content, view: {} }
      },
      unary(dependencies, ({ actor, rates, force }) =>
        operatorWork(actor, (a) => setRates(a, rates, { force })),
      ),
    ),
    ListRates: unary(dependencies, () => ownWork(listRates())),
    TrialBalance: unary(dependencies, ({ tenant: named }) => {
      const tenant = named ? tenantIn(memory, named) : undefined
      return ownWork(tenant === null ? null : trialBalance(tenant))
    }),
    SetRoute: (call, callback) => {
      const handler = call.request.route?.tenant ? setRouteHere : setDefaultRoute
      handler(call, callback)
    },
    SetRouteRail: sharedSetting(
      dependencies,
      cluster,
      ({ route, rail }) => {
        const content = routeRailSetting(route, rail)
        return content && { content, view: { route, rail } }
      },
      unary(dependencies, ({ actor, route, rail }) =>
        operatorWork(actor, (a) => setRouteRail(a, route, rail)),
      ),
    ),
    PauseSubmissions: sharedSetting(
      dependencies,
      cluster,
      ({ subject }) => ({ content: pauseSetting(subject), view: { subject } }),
      unary(dependencies, ({ actor, subject }) =>
        operatorWork(actor, (a) => pauseSubmissions(a, subject)),
      ),
    ),
    ResumeSubmissions: sharedSetting(
      dependencies,
      cluster,
      ({ subject }) => ({ content: resumeSetting(subject), view: { subject } }),
      unary(dependencies, ({ actor, subject }) =>
        operatorWork(actor, (a) => resumeSubmissions(a, subject)),
      ),
    ),
    ListSubmissionPauses: unary(dependencies, () => ownWork(listSubmissionPauses())),
    ListRoutes: unary(dependencies, () => ownWork(listRoutes())),
    ListArchivable: unaryQuery(dependencies, ({ before, after }) =>
      listArchivable(memory, { before: momentOf(before), after }, dependencies.clock),
    ),
    RemoveArchived: unary(dependencies, ({ actor, archive_id: id, path, payments }) =>
      operatorWork(actor, (a) => archivePayments(a, { id, path }, payments)),
    ),
    SetBalanceAlert: unary(dependencies, ({ actor, tenant: named, currency, threshold }) => {
      const tenant = tenantIn(memory, named)
      return ownWork(
        tenant === null
          ? null
          : actingAs(actor, (a) => setBalanceAlert(a, tenant, currency, threshold)),
      )
    }),
    ...paymentCalls(dependencies),
    Find: unaryQuery(dependencies, ({ text }) => find(pools, memory, text)),
    EnsureDemo: placedCall(
      placements,
      () => DEMO,
      unary(dependencies, () => ownWork(ensureDemo())),
    ),
  }
}
