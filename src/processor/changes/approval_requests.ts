/**
 * Requests of one operator that a second one must approve before they take effect.
 *
 * - A command requests approval after its last refusal, so a stored request would succeed now;
 *   every refusal applies again at the approval.
 * - The same change requested again is the same request, from any operator.
 * - An approval is for exactly the stored change.
 */
import { DAY, instant, plus, toRfc3339, type Instant } from '../../base/clock.js'
import { newId } from '../../base/ids.js'
import type { Money } from '../../money/money.js'
import type { Row } from '../../store/tables.js'
import { refuse, type Answer, type ApprovalRequired } from '../cycle/answer.js'
import type { CommandContext } from '../cycle/command.js'
import type { SecondOperatorRule } from '../cycle/rules.js'
import type { StoredFigures } from '../recovery/statement_figures.js'
import { logAction, type Actor } from './operator_log.js'

export type ApprovalRequest = Row<'approvalRequests'>

/** The stored arguments of each guarded change. */
export interface GuardedArguments {
  readonly approve_payout: { readonly payout_id: string }
  readonly reverse_payout: { readonly payout_id: string; readonly evidence: string }
  readonly deposit: {
    readonly tenant: string
    readonly currency: string
    readonly amount: string
    readonly idempotency_key: string
  }
  readonly resolve_discrepancy: {
    readonly discrepancy_id: string
    readonly settlement: string
    readonly evidence: string
  }
  readonly release_recovery: {
    readonly recovery: number
    readonly statement: string | null
    readonly rail_checked: boolean
    /** Absent in requests of 1.0. */
    readonly figures?: StoredFigures | null
    readonly incomplete?: boolean
  }
  readonly create_caller: {
    readonly name: string
    readonly kind: string
    readonly roles: readonly string[]
    readonly partners: readonly string[]
    readonly certificate: string | null
  }
  readonly rotate_caller: { readonly name: string }
}
export type GuardedOperation = keyof GuardedArguments

interface GuardedChange<O extends GuardedOperation> {
  readonly operation: O
  readonly arguments: GuardedArguments[O]
  /** The subject of the change, for the list and the log. */
  readonly subject: string
  /** Null: it needs a second operator for any amount. */
  readonly funds: Money | null
}

const VALID_FOR_MS = DAY

/**
 * The refusal of a change that a second operator must approve; null: the actor may make it now.
 */
export function refusalOfOneOperator<O extends GuardedOperation>(
  ctx: CommandContext,
  actor: Actor,
  change: GuardedChange<O>,
): Answer | null {
  const given = JSON.stringify(change.arguments)
  const { approves } = actor
  if (approves !== undefined) {
    const isSame = approves.operation === change.operation && approves.arguments === given
    return isSame ? null : refuse('approval_request_outdated')
  }
  if (!isRequired(ctx.rules.secondOperator, change.funds)) return null
  const { id } = pendingLike(ctx, change.operation, given) ?? request(ctx, actor, change, given)
  return approvalRequired(id)
}

const approvalRequired = (approvalRequest: string): ApprovalRequired => ({
  ok: false,
  code: 'second_operator_required',
  approvalRequest,
})

function isRequired(rule: SecondOperatorRule | null, funds: Money | null): boolean {
  if (rule === null) return false
  return funds === null || funds.minor >= (rule.get(funds.currency) ?? 0n)
}

function pendingLike(
  { memory, now }: CommandContext,
  operation: string,
  given: string,
): ApprovalRequest | undefined {
  for (const known of memory.approvalRequests.values()) {
    const isSame = known.operation === operation && known.arguments === given
    if (isSame && statusOf(known, now) === 'pending') return known
  }
  return undefined
}

function request<O extends GuardedOperation>(
  ctx: CommandContext,
  actor: Actor,
  { operation, subject, funds }: GuardedChange<O>,
  given: string,
): ApprovalRequest {
  const requested: ApprovalRequest = {
    id: newId('approvalRequest', ctx.now, ctx.random),
    operation,
    arguments: given,
    subject,
    currency: funds?.currency ?? null,
    amount: funds?.minor ?? null,
    requested_by: actor.name,
    reason: actor.reason,
    requested_at: ctx.now,
    expires_at: plus(ctx.now, VALID_FOR_MS),
    status: 'pending',
    decided_by: null,
    decision_reason: null,
    decided_at: null,
  }
  stageApprovalRequest(ctx, requested)
  logAction(ctx, actor, 'request_approval', `${requested.id} ${operation} ${subject}`)
  return requested
}

export function stageApprovalRequest(
  { memory, batch }: CommandContext,
  request: ApprovalRequest,
): void {
  memory.approvalRequests.set(request.id, request)
  batch.stage('approvalRequests', request.id, request)
}

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired'

export function statusOf({ status, expires_at }: ApprovalRequest, now: Instant): ApprovalStatus {
  if (status === 'pending' && expires_at <= now) return 'expired'
  return status as ApprovalStatus
}

export function approvalRequestView(request: ApprovalRequest, now: Instant): object {
  const { amount, requested_at, expires_at, decided_at, ...texts } = request
  const time = (at: number): string => toRfc3339(instant(at))
  const kept = Object.entries(texts).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(kept),
    status: statusOf(request, now),
    requested_at: time(requested_at),
    expires_at: time(expires_at),
    ...(amount === null ? {} : { amount: amount.toString() }),
    ...(decided_at === null ? {} : { decided_at: time(decided_at) }),
  }
}
