/** The operators' service: every change but EnsureDemo is a command with an actor and a reason. */
import type { EventOutcomesHandlers } from '../../../../protos/types/causeway/v1/EventOutcomes.js'
import type { OperatorHandlers } from '../../../../protos/types/causeway/v1/Operator.js'
import type { EndpointId } from '../../../base/ids.js'
import { setBalanceAlert } from '../../commands/funds/balance_alert_set.js'
import { deposit } from '../../commands/funds/deposit.js'
import { ensureDemo } from '../../commands/partners/demo_ensure.js'
import { settleEvents } from '../../commands/webhook_endpoints/events_settle.js'
import { issueKey } from '../../commands/partners/key_issue.js'
import { createPartner } from '../../commands/partners/partner_create.js'
import { setRate } from '../../commands/operators/rate_set.js'
import { listRates } from '../../commands/operators/rates_list.js'
import { listRoutes, setRoute } from '../../commands/operators/route_set.js'
import { trialBalance } from '../../commands/operators/trial_balance.js'
import { disableWebhookEndpoint } from '../../commands/webhook_endpoints/webhook_endpoint_switch.js'
import { by, ours } from './calls.js'
import { intentCalls } from './intents.js'
import { payoutCalls } from './payouts.js'
import { tenantIn, unary, type UnaryDependencies } from '../unary_handler.js'

export function operatorService(dependencies: UnaryDependencies): OperatorHandlers {
  const { memory } = dependencies
  return {
    CreatePartner: unary(dependencies, ({ actor, partner_id, no_funds }) =>
      ours(by(actor, (a) => createPartner(a, partner_id, !no_funds))),
    ),
    IssueKey: unary(dependencies, ({ actor, tenant: named }) => {
      const tenant = tenantIn(memory, named)
      return ours(tenant === null ? null : by(actor, (a) => issueKey(a, tenant)))
    }),
    Deposit: unary(dependencies, ({ actor, tenant: named, currency, amount, idempotency_key }) => {
      const tenant = tenantIn(memory, named)
      const request = { currency, amount, idempotencyKey: idempotency_key }
      return ours(tenant === null ? null : by(actor, (a) => deposit(a, tenant, request)))
    }),
    SetRate: unary(dependencies, ({ actor, currency, rate }) =>
      ours(by(actor, (a) => setRate(a, currency, rate))),
    ),
    ListRates: unary(dependencies, () => ours(listRates())),
    TrialBalance: unary(dependencies, ({ tenant: named }) => {
      const tenant = named ? tenantIn(memory, named) : undefined
      return ours(tenant === null ? null : trialBalance(tenant))
    }),
    SetRoute: unary(dependencies, ({ actor, route }) => {
      const tenant = route?.tenant ? tenantIn(memory, route.tenant) : undefined
      if (route === null || tenant === null) return null
      return ours(by(actor, (a) => setRoute(a, tenant ?? null, route)))
    }),
    ListRoutes: unary(dependencies, () => ours(listRoutes())),
    SetBalanceAlert: unary(dependencies, ({ actor, tenant: named, currency, threshold }) => {
      const tenant = tenantIn(memory, named)
      return ours(
        tenant === null ? null : by(actor, (a) => setBalanceAlert(a, tenant, currency, threshold)),
      )
    }),
    ...payoutCalls(dependencies),
    ...intentCalls(dependencies),
    EnsureDemo: unary(dependencies, () => ours(ensureDemo())),
  }
}

/** The pool reports what became of events. */
export function eventOutcomesService(dependencies: UnaryDependencies): EventOutcomesHandlers {
  return {
    Record: unary(dependencies, ({ outcomes }) => {
      const settled = outcomes.filter(({ outcome }) => outcome === 'settled')
      return ours(settleEvents(settled.map(({ event_id }) => event_id)))
    }),
    DisableEndpoint: unary(dependencies, ({ endpoint_id, reason }) =>
      ours(disableWebhookEndpoint(endpoint_id as EndpointId, reason)),
    ),
  }
}
