/**
 * Payments as business: transitions and amounts, counted after their commit, and what is open.
 *
 * - Counters start at 0 with the process. What is open now is read from the books.
 * - A transition costs a few look-ups: it is on the path of every payment.
 */
import { SECOND, instant, type Clock } from '../base/clock.js'
import { environmentOf, partsOfTenant } from '../base/ids.js'
import type { AccountKey } from '../ledger/accounts.js'
import type { Metrics, Reading } from '../metrics/metrics.js'
import { exponentOf, USD, type Currency } from '../money/currency.js'
import type { IntentContext } from '../../actors/intent/context.js'
import type { PayoutContext } from '../../actors/payout/context.js'
import { UNKNOWN_AGES, type OpenWorkMonitor } from './background/open_work_monitor.js'
import type { StuckPaymentMonitor } from './background/stuck_payment_monitor.js'
import type { Memory } from './cache/memory.js'
import { statusOf } from './changes/approval_requests.js'
import type { Transition } from './cycle/commit_batch.js'
import type { UnknownKind } from '../store/unknown_outcomes.js'
import { isSet } from '../quotes/rates.js'

/** Balances with a series of their own. */
const PREFUND_SERIES_MAX = 1_000

export interface PaymentSources {
  readonly memory: Memory
  readonly openWork: Pick<OpenWorkMonitor, 'latest'>
  readonly stuckPaymentMonitor: Pick<StuckPaymentMonitor, 'overdue'>
  readonly clock: Clock
}

export function registerPaymentMetrics(
  metrics: Metrics,
  { memory, openWork, stuckPaymentMonitor, clock }: PaymentSources,
): void {
  metrics.readAll('causeway_open_payments', () =>
    (openWork.latest()?.payments ?? []).map(({ entity, state, count }) => [count, entity, state]),
  )
  metrics.readAll('causeway_unknown_outcomes', () => {
    const overdue = stuckPaymentMonitor.overdue()
    const found = openWork.latest()?.unknown
    return UNKNOWN_KINDS.flatMap(([kind, entity]) => [
      [overdue[kind], entity, 'over_24h'] as const,
      ...RECENT_AGES.flatMap((age, i) =>
        found === undefined ? [] : [[found[kind][i] ?? 0, entity, age] as const],
      ),
    ])
  })
  metrics.read('causeway_held_payouts', () => heldOf(openWork))
  metrics.read('causeway_held_payout_oldest_age_seconds', () => {
    const open = openWork.latest()
    if (open === null) return null
    return open.oldestHeld === null ? 0 : (clock.now() - open.oldestHeld) / SECOND
  })
  metrics.read('causeway_discrepancies_open', () => openWork.latest()?.discrepancies ?? null)
  const pending = () => {
    const now = clock.now()
    const requests = [...memory.approvalRequests.values()]
    return requests.filter((each) => statusOf(memory, each, now) === 'pending')
  }
  metrics.read('causeway_approvals_open', () => pending().length)
  metrics.read('causeway_approval_oldest_age_seconds', () => {
    const oldest = Math.min(...pending().map((each) => each.requested_at))
    return Number.isFinite(oldest) ? (clock.now() - oldest) / SECOND : 0
  })
  metrics.readAll('causeway_prefund_balance', () => prefunds(memory))
  metrics.read('causeway_prefund_balances_omitted', () => {
    let count = 0
    for (const account of memory.balances.keys()) if (isPrefund(account)) count += 1
    return Math.max(0, count - PREFUND_SERIES_MAX)
  })
  metrics.readAll('causeway_rate_age_seconds', () =>
    [...memory.rates.values()]
      .filter(isSet)
      .map(
        ({ environment, currency, setAt }) =>
          [(clock.now() - setAt) / SECOND, environment, currency] as const,
      ),
  )
}

const heldOf = (openWork: PaymentSources['openWork']): number | null =>
  openWork
    .latest()
    ?.payments.find(({ entity, state }) => entity === 'payout' && state === 'created')?.count ??
  null

const UNKNOWN_KINDS: readonly (readonly [UnknownKind, string])[] = [
  ['intents', 'payment_intent'],
  ['payouts', 'payout'],
  ['recalls', 'recall'],
]
/** Those over a day are counted with their alarm. */
const RECENT_AGES = Object.keys(UNKNOWN_AGES).filter((age) => age !== 'over_24h')

const PREFUND = ':prefund'
const isPrefund = (account: AccountKey): boolean => account.endsWith(PREFUND)

/** Those of production first: alerts are about them. */
function prefunds(memory: Memory): Reading<'causeway_prefund_balance'>[] {
  const production: Reading<'causeway_prefund_balance'>[] = []
  const sandbox: Reading<'causeway_prefund_balance'>[] = []
  for (const [account, balance] of memory.balances) {
    if (!isPrefund(account)) continue
    if (production.length === PREFUND_SERIES_MAX) return production
    const [tenant = '', currency = ''] = account.split(':')
    const { partner, environment } = partsOfTenant(tenant as IntentContext['tenant'])
    const readings = environment === 'production' ? production : sandbox
    readings.push([inMajor(balance, currency as Currency), partner, environment, currency])
  }
  return [...production, ...sandbox].slice(0, PREFUND_SERIES_MAX)
}

const inMajor = (minor: number | bigint | string, currency: Currency): number =>
  Number(minor) / 10 ** exponentOf(currency)

export interface PaymentCounters {
  committed(transitions: readonly Transition[]): void
}

/** @param railOf the name of a payment's rail */
export function createPaymentCounters(
  metrics: Metrics,
  railOf: (payment: IntentContext | PayoutContext) => string,
): PaymentCounters {
  const entered = metrics.counter('causeway_payment_transitions_total')
  const failures = metrics.counter('causeway_payment_failures_total')
  const amounts = metrics.counter('causeway_payment_amount_total')

  /** By environment, corridor and state, which differ between the two entities. */
  const totals = new Map<string, Map<string, Map<string, { value: number }>>>()

  const count = ({ to, tenant, failure, payment }: Transition): void => {
    const environment = environmentOf(tenant)
    const [entity, corridor] = isIntent(payment)
      ? (['payment_intent', payment.corridor] as const)
      : (['payout', corridorOf(payment)] as const)
    const ofCorridor = within(within(totals, environment), corridor)
    let total = ofCorridor.get(to)
    if (total === undefined)
      ofCorridor.set(to, (total = entered.total(entity, to, corridor, environment)))
    total.value += 1
    if (failure !== null) failures.inc(entity, failure, corridor, environment)
    const amount = amountOf(payment)
    if (amount === null) return
    amounts.add(amount.value, entity, to, amount.currency, environment)
    const outcome = outcomeOf(to, payment)
    if (outcome === null) return
    metrics
      .histogram('causeway_rail_outcome_duration_seconds', railOf(payment), outcome.name)
      .observe(Math.max(0, outcome.tookMs) / SECOND)
  }
  return { committed: (transitions) => transitions.forEach(count) }
}

function within<V>(maps: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let map = maps.get(key)
  if (map === undefined) maps.set(key, (map = new Map<string, V>()))
  return map
}

const isIntent = (payment: IntentContext | PayoutContext): payment is IntentContext =>
  'corridor' in payment

/** A payout's country and currency. */
const corridorOf = ({ beneficiary, currency }: PayoutContext): string =>
  `${beneficiary.country}_${currency}`.toLowerCase()

/** Null means that the intent has no price yet. */
function amountOf(payment: IntentContext | PayoutContext) {
  if (!isIntent(payment)) {
    const { amount, currency } = payment
    return { value: inMajor(amount, currency), currency }
  }
  const { scanned } = payment
  return scanned === undefined ? null : { value: inMajor(scanned.quote.cents, USD), currency: USD }
}

/** Null means that the rail did not end the payment. */
function outcomeOf(to: string, payment: IntentContext | PayoutContext) {
  const { submittedAt, failure, failedAt } = payment
  const executedAt = isIntent(payment) ? payment.capturedAt : payment.completedAt
  if (submittedAt === undefined) return null
  if ((to === 'captured' || to === 'completed') && executedAt !== undefined)
    return { name: 'executed', tookMs: executedAt - submittedAt }
  if (to !== 'failed' || failure?.source !== 'rail') return null
  return { name: 'refused', tookMs: (failedAt ?? instant(submittedAt)) - submittedAt }
}
