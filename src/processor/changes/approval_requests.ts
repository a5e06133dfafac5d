/**
 * Requests of one operator that a second one must approve before they take effect.
 *
 * Does not own: which changes need one (second_operator).
 *
 * - A command requests approval after its last refusal, so a stored request would succeed now;
 *   every refusal applies again at the approval.
 * - The same change requested again is the same request, from any operator.
 * - An approval is for exactly the stored change.
 */
import { DAY, instant, plus, toRfc3339, type Instant } from '../../base/clock.js'
import { named } from '../../base/corrupt_row.js'
import { newId } from '../../base/ids.js'
import type { Row } from '../../store/tables.js'
import { refuse, type Answer, type ApprovalRequired } from '../cycle/answer.js'
import type { CommandContext } from '../cycle/command.js'
import type { Memory } from '../cache/memory.js'
import { areMoments } from '../cache/stored_moments.js'
import type { StoredFigures } from '../recovery/statement_figures.js'
import { logAction, type Actor } from './operator_log.js'
import {
  GUARDED_CHANGES,
  needsSecondOperator,
  type GuardedOperation,
  type MovedBy,
} from './second_operator.js'

export type ApprovalRequest = Row<'approvalRequests'>

export interface RateChange {
  readonly currency: string
  /** Empty means that it is removed. */
  readonly rate: string
  /** Absent or empty: both. */
  readonly environment?: string
}

/** The stored arguments of each guarded change. */
export interface GuardedArguments {
  readonly approve_payout: { readonly payout_id: string; readonly other_than?: readonly string[] }
  readonly resolve_payout: {
    readonly payout_id: string
    readonly outcome: string
    readonly evidence: string
  }
  readonly reverse_payout: { readonly payout_id: string; readonly evidence: string }
  readonly approve_intent: { readonly intent_id: string; readonly other_than?: readonly string[] }
  readonly resolve_intent: {
    readonly intent_id: string
    readonly outcome: string
    readonly evidence: string
  }
  readonly reverse_intent: { readonly intent_id: string; readonly evidence: string }
  readonly deposit: {
    readonly tenant: string
    readonly currency: string
    readonly amount: string
    readonly idempotency_key: string
  }
  readonly withdraw: {
    readonly tenant: string
    readonly currency: string
    readonly amount: string
    readonly idempotency_key: string
    readonly evidence: string
  }
  readonly correct_deposit: {
    readonly tenant: string
    readonly deposit_id: string
    readonly currency: string
    readonly amount: string
    readonly idempotency_key: string
    readonly evidence: string
  }
  readonly resolve_discrepancy: {
    readonly discrepancy_id: string
    readonly settlement: string
    readonly evidence: string
  }
  readonly resolve_orphan: {
    readonly instruction_id: string
    readonly payment_id: string
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
  /** The user is named by a payment, so that the log does not name the user. */
  readonly erase_user: { readonly tenant: string; readonly intent_id: string }
  readonly issue_key: { readonly tenant: string; readonly public_key: string }
  readonly set_route: {
    /** Null means all tenants. */
    readonly tenant: string | null
    /** In the form of the operators' route. */
    readonly route: object
  }
  readonly set_rate: RateChange
  readonly set_rates: { readonly rates: readonly RateChange[] }
  readonly resume_submissions: { readonly subject: string }
  readonly set_route_rail: { readonly route: string; readonly rail: string }
  readonly create_caller: {
    readonly name: string
    readonly kind: string
    readonly roles: readonly string[]
    readonly partners: readonly string[]
    readonly certificate: string | null
    readonly token_sha256: string | null
  }
  readonly rotate_caller: { readonly name: string; readonly token_sha256: string }
}
interface GuardedChange<O extends GuardedOperation> {
  readonly operation: O
  readonly arguments: GuardedArguments[O]
  /** The subject of the change, for the list and the log. */
  readonly subject: string
  readonly moved: MovedBy<O>
}

const VALID_FOR_MS = DAY

/**
 * The refusal of a change that a second operator must approve. Null if the actor may make it now.
 * Call it for the cases of GUARDED_CHANGES only.
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
  if (!needsSecondOperator(ctx, actor.name, change.moved)) return null
  const { id } = pendingLike(ctx, change.operation, given) ?? request(ctx, actor, change, given)
  return approvalRequired(id)
}

const approvalRequired = (approvalRequest: string): ApprovalRequired => ({
  ok: false,
  code: 'second_operator_required',
  approvalRequest,
})

function pendingLike(
  { memory, now }: CommandContext,
  operation: string,
  given: string,
): ApprovalRequest | undefined {
  for (const known of memory.approvalRequests.values()) {
    const isSame = known.operation === operation && known.arguments === given
    if (isSame && statusOf(memory, known, now) === 'pending') return known
  }
  return undefined
}

function request<O extends GuardedOperation>(
  ctx: CommandContext,
  actor: Actor,
  { operation, subject, moved }: GuardedChange<O>,
  given: string,
): ApprovalRequest {
  const funds = moved?.funds
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

/** `ended`: the credential by which it was requested is revoked or rotated, or it is corrupt. */
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'ended'

export function statusOf(memory: Memory, request: ApprovalRequest, now: Instant): ApprovalStatus {
  const { status, expires_at } = request
  if (isCorrupt(request)) return 'ended'
  if (status !== 'pending') return status as ApprovalStatus
  if (expires_at <= now) return 'expired'
  return isOfFormerCredential(memory, request) ? 'ended' : 'pending'
}

/** It cannot be approved: a change is made by exactly what was requested. */
export const isCorrupt = (request: ApprovalRequest): boolean =>
  !areMoments(request.requested_at, request.expires_at, request.decided_at) ||
  !Object.hasOwn(GUARDED_CHANGES, request.operation) ||
  !isObject(request.arguments)

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}

export const approvalName = ({ id }: ApprovalRequest): string => `approval request ${id}`

/**
 * Whether the requester is revoked, or has another token since. A former token can request nothing
 * (auth/callers), so a request after the rotation is of the new one.
 */
function isOfFormerCredential(
  { callers }: Memory,
  { requested_by, requested_at }: ApprovalRequest,
): boolean {
  const requester = callers.get(requested_by)
  if (requester === undefined) return false
  const [, ...rotations] = requester.tokens
  return requester.revokedAt !== null || rotations.some((token) => token.createdAt >= requested_at)
}

export function approvalRequestView(
  memory: Memory,
  request: ApprovalRequest,
  now: Instant,
): object {
  const { amount, requested_at, expires_at, decided_at, ...texts } = request
  if (isCorrupt(request))
    return { id: request.id, status: 'ended', ...named(approvalName(request)) }
  const time = (at: number): string => toRfc3339(instant(at))
  const kept = Object.entries(texts).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(kept),
    status: statusOf(memory, request, now),
    requested_at: time(requested_at),
    expires_at: time(expires_at),
    ...(amount === null ? {} : { amount: amount.toString() }),
    ...(decided_at === null ? {} : { decided_at: time(decided_at) }),
  }
}
