/**
 * Which changes of operators need a second operator, and from which amount: the only place that
 * says so. The operators' guide has the same table.
 *
 * Does not own: the requests and their approval (approval_requests), the setting (cycle/rules).
 *
 * - Amounts are those of SECOND_OPERATOR_FROM. What the operator has moved alone of the same tenant
 *   and currency on the same UTC day is added, so a large amount cannot be split.
 * - Every rpc that changes something is named here, and one that is guarded by none says why.
 */
import type { Caller } from '../../auth/caller.js'
import type { RPC_ACCESS } from '../../auth/rpc_access.js'
import { environmentOf, type TenantId } from '../../base/ids.js'
import { changeBps, type Rate } from '../../money/rate.js'
import type { Route } from '../../money/payout_routes.js'
import type { Moved } from '../cache/single_handed_sums.js'
import type { CommandContext } from '../cycle/command.js'

/** A change that can need a second operator. */
interface Guarded {
  /** The change, as the operators' guide has it. */
  readonly change: string
  /** The amount that is compared, in words; `always`: it needs one whatever it moves. */
  readonly from: 'always' | `the ${string}`
}

export const GUARDED_CHANGES = {
  deposit: { change: '`deposit`', from: 'the amount' },
  withdraw: { change: '`withdraw`', from: 'the amount' },
  correct_deposit: { change: '`deposit correct`', from: 'the amount of the correction' },
  approve_payout: { change: '`payout approve`', from: 'the amount of the payout' },
  resolve_payout: { change: '`payout resolve`', from: 'the amount of the payout' },
  reverse_payout: { change: '`payout reverse`', from: 'the amount of the payout' },
  approve_intent: { change: '`intent approve`', from: 'the debit in US dollars' },
  resolve_intent: {
    change: '`intent resolve … captured` or `failed`',
    from: 'the debit in US dollars',
  },
  reverse_intent: { change: '`intent reverse`', from: 'the debit in US dollars' },
  resolve_discrepancy: {
    change: '`discrepancy resolve … charge_partner`, `credit_partner` or `write_off`',
    from: 'the amount of the discrepancy',
  },
  resolve_orphan: { change: '`recovery resolve … --match`', from: 'the amount of the execution' },
  release_recovery: {
    change: '`recovery release`, for one statement, and for `--incomplete` or not',
    from: 'always',
  },
  issue_key: { change: '`key issue … production`', from: 'always' },
  erase_user: { change: '`partner erase-user`', from: 'always' },
  set_route: { change: '`routes set` that loosens a route', from: 'always' },
  set_route_rail: { change: '`routes set … --rail`', from: 'always' },
  resume_submissions: { change: '`submissions resume`', from: 'always' },
  set_rate: {
    change: '`rates set` by more than 5 % in a day, or of a new currency',
    from: 'always',
  },
  set_rates: { change: '`rates import` with such a rate', from: 'always' },
  create_caller: {
    change: '`callers create`, except an operator who only reads',
    from: 'always',
  },
  rotate_caller: {
    change: "`callers rotate`, except one's own and of an operator who only reads",
    from: 'always',
  },
} as const satisfies Readonly<Record<string, Guarded>>

export type GuardedOperation = keyof typeof GUARDED_CHANGES

/** What an operation moves; null for one that needs a second operator whatever it moves. */
export type MovedBy<O extends GuardedOperation> =
  (typeof GUARDED_CHANGES)[O]['from'] extends 'always' ? null : Moved

/** Why one operator may make a change alone. */
interface ByOne {
  readonly byOne: string
}

/** The rpcs of a service that operators call to change something. */
type ChangesOf<Rpcs> = {
  readonly [
    Rpc in keyof Rpcs as Rpcs[Rpc] extends readonly ['operate'] | readonly ['decide'] ? Rpc : never
  ]: GuardedOperation | ByOne
}
type OperatorChanges = {
  readonly [
    Name in keyof typeof RPC_ACCESS as Name extends `causeway.operator.v1.${infer Service}`
      ? keyof ChangesOf<(typeof RPC_ACCESS)[Name]> extends never
        ? never
        : Service
      : never
  ]: ChangesOf<(typeof RPC_ACCESS)[Name]>
}

const RESTRICTS: ByOne = { byOne: 'it only restricts, and must be possible at once' }
const MOVES_NOTHING: ByOne = { byOne: 'it moves no money and shows no secret' }

export const OPERATOR_CHANGES: OperatorChanges = {
  Operator: {
    CreatePartner: { byOne: 'its key and its funds are of the sandbox' },
    IssueKey: 'issue_key',
    Deposit: 'deposit',
    Withdraw: 'withdraw',
    CorrectDeposit: 'correct_deposit',
    SetRate: 'set_rate',
    SetRates: 'set_rates',
    ApprovePayout: 'approve_payout',
    RejectPayout: { byOne: 'nothing was submitted; the money goes back to its owner' },
    ResolvePayout: 'resolve_payout',
    ReversePayout: 'reverse_payout',
    ResolveIntent: 'resolve_intent',
    ReverseIntent: 'reverse_intent',
    ResolveDiscrepancy: 'resolve_discrepancy',
    Inquire: MOVES_NOTHING,
    SetRoute: 'set_route',
    SetRouteRail: 'set_route_rail',
    PauseSubmissions: RESTRICTS,
    ResumeSubmissions: 'resume_submissions',
    SetBalanceAlert: MOVES_NOTHING,
    ListArchivable: MOVES_NOTHING,
    RemoveArchived: {
      byOne: 'the ledger stays whole, and only payments of half a year and more leave for a file',
    },
  },
  PartnerAdmin: {
    Suspend: RESTRICTS,
    Resume: MOVES_NOTHING,
    SetAllowedIps: MOVES_NOTHING,
    SetPackages: MOVES_NOTHING,
    SetCorridors: MOVES_NOTHING,
    SetRateLimit: MOVES_NOTHING,
    RevokeKey: RESTRICTS,
    ReencryptSecrets: MOVES_NOTHING,
    EraseUser: 'erase_user',
  },
  Approvals: {
    Approve: { byOne: 'it is the second operator' },
    Reject: RESTRICTS,
  },
  Callers: { Create: 'create_caller', Rotate: 'rotate_caller', Revoke: RESTRICTS },
  Shards: {
    Create: MOVES_NOTHING,
    Move: MOVES_NOTHING,
    MovePartner: MOVES_NOTHING,
    SkipSetting: { byOne: 'a shard that can apply the setting applies it all the same' },
  },
  Recovery: {
    AddOrphans: { byOne: 'it only holds payments' },
    Release: 'release_recovery',
    ResolveOrphan: 'resolve_orphan',
    ApproveIntent: 'approve_intent',
    RejectIntent: { byOne: 'nothing was submitted; the money goes back to its owner' },
  },
  WebhookAdmin: {
    Redrive: MOVES_NOTHING,
    EnableEndpoint: MOVES_NOTHING,
    DisableEndpoint: MOVES_NOTHING,
  },
}

/**
 * Whether this operator needs a second one.
 *
 * @param moved null means whatever it moves
 */
export function needsSecondOperator(
  { rules, memory, now }: Pick<CommandContext, 'rules' | 'memory' | 'now'>,
  operator: string,
  moved: Moved | null,
): boolean {
  const { secondOperator } = rules
  if (secondOperator === null) return false
  if (moved === null) return true
  const { currency, minor } = moved.funds
  const sum = memory.singleHanded.of(operator, moved, now) + minor
  return sum >= (secondOperator.get(currency) ?? 0n)
}

/** A key of the sandbox moves test money only. */
export const isGuardedKey = (tenant: TenantId): boolean => environmentOf(tenant) === 'production'

/** An operator who only reads can neither move money nor see a secret. */
export const isGuardedCaller = ({ kind, roles }: Pick<Caller, 'kind' | 'roles'>): boolean =>
  kind !== 'operator' || roles.some((role) => role !== 'read')

/** Catches a misplaced decimal point; no corridor currency moves this much in a day. */
const USUAL_CHANGE_BPS = 500n

/** @param before the rate at the beginning of the day, null if there is none */
export const isGuardedRate = (before: Rate | null, after: Rate): boolean =>
  before === null || changeBps(before, after) > USUAL_CHANGE_BPS

/**
 * Whether more can be paid out without a review than before, or for other fees.
 *
 * @param before the route in force until now, null if there is none
 */
export function isGuardedRoute(before: Route | null, after: Route): boolean {
  if (!after.enabled) return false
  if (before?.enabled !== true) return true
  return (
    isHigher(before.reviewFrom, after.reviewFrom) ||
    isHigher(before.amountMax, after.amountMax) ||
    haveOtherFees(before, after)
  )
}

/** Null is no bound. */
const isHigher = (before: bigint | null, after: bigint | null): boolean =>
  before !== null && (after === null || after > before)

const haveOtherFees = ({ fees: before }: Route, { fees: after }: Route): boolean =>
  before.platformFixed !== after.platformFixed ||
  before.platformBps !== after.platformBps ||
  before.railFixed !== after.railFixed ||
  before.handling !== after.handling ||
  before.refundFeesOnReversal !== after.refundFeesOnReversal
