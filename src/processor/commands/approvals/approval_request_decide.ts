/**
 * A second operator's decision on an approval request, and the list of requests.
 *
 * - An approval makes the requested change in the same commit, with all its refusals; a request
 *   whose change is refused stays pending.
 * - The requester cannot approve, but can reject, which withdraws the request.
 * - A request ends when its requester is revoked, rotated or no longer configured.
 */
import { crashPoint } from '../../../base/crash_point.js'
import type { ErrorCode } from '../../../base/errors.js'
import { isReadOnly, type Memory } from '../../cache/memory.js'
import {
  approvalRequestView,
  isCorrupt,
  stageApprovalRequest,
  statusOf,
  type ApprovalRequest,
  type ApprovalStatus,
} from '../../changes/approval_requests.js'
import { callerNamed } from '../../changes/callers.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { guardedCommand, type GuardedLinks } from './guarded_command.js'

export function approveRequest(actor: Actor, id: string, links: GuardedLinks): Command {
  const guardedIn = (memory: Memory) => {
    const request = memory.approvalRequests.get(id)
    if (request === undefined || isCorrupt(request)) return undefined
    return { request, ...guardedCommand(request, actor, links) }
  }
  return {
    name: 'approve_request',
    allowedInRecovery: true,
    needs: (needs, memory) => guardedIn(memory)?.command.needs(needs, memory),
    decide: (ctx) => {
      const guarded = guardedIn(ctx.memory)
      if (guarded === undefined) {
        const isKnown = ctx.memory.approvalRequests.has(id)
        return refuse(isKnown ? 'approval_request_ended' : 'approval_request_not_found')
      }
      const { request, command, result } = guarded
      const ended = refusalOfEnded(ctx, request)
      if (ended !== null) return refuse(ended)
      if (request.requested_by === actor.name) return refuse('approver_is_requester')
      if (callerNamed(ctx, links.callers, request.requested_by) === undefined) {
        return refuse('approval_request_ended')
      }
      if (isReadOnly(ctx.memory) && command.allowedInRecovery !== true) {
        return refuse(ctx.memory.recovery === null ? 'configuration_error' : 'recovery_active')
      }
      const changed = command.decide(ctx)
      if (!changed.ok) return changed
      crashPoint('approval.decided')

      // From here on it must succeed.
      const approved = stageDecision(ctx, actor, request, 'approved')
      return answer({
        request: approvalRequestView(ctx.memory, approved, ctx.now),
        [result]: changed.view,
      })
    },
  }
}

export function rejectRequest(actor: Actor, id: string): Command {
  return {
    name: 'reject_request',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const request = ctx.memory.approvalRequests.get(id)
      if (request === undefined) return refuse('approval_request_not_found')
      const ended = refusalOfEnded(ctx, request)
      if (ended !== null) return refuse(ended)

      // From here on it must succeed.
      const rejected = stageDecision(ctx, actor, request, 'rejected')
      return answer(approvalRequestView(ctx.memory, rejected, ctx.now))
    },
  }
}

const REFUSALS: Readonly<Record<Exclude<ApprovalStatus, 'pending'>, ErrorCode>> = {
  approved: 'approval_request_decided',
  rejected: 'approval_request_decided',
  expired: 'approval_request_expired',
  ended: 'approval_request_ended',
}

function refusalOfEnded({ memory, now }: CommandContext, request: ApprovalRequest) {
  const status = statusOf(memory, request, now)
  return status === 'pending' ? null : REFUSALS[status]
}

const ACTIONS = { approved: 'approve_request', rejected: 'reject_request' } as const

function stageDecision(
  ctx: CommandContext,
  { name, reason }: Actor,
  request: ApprovalRequest,
  status: keyof typeof ACTIONS,
): ApprovalRequest {
  const decided: ApprovalRequest = {
    ...request,
    status,
    decided_by: name,
    decision_reason: reason,
    decided_at: ctx.now,
  }
  stageApprovalRequest(ctx, decided)
  const subject = `${request.id} ${request.operation} ${request.subject}`
  logAction(ctx, { name, reason }, ACTIONS[status], subject)
  return decided
}

/** How many decided and expired requests are listed, the newest first. */
const RESOLVED_MAX = 100

export function listApprovalRequests(resolved: boolean): Command {
  return {
    name: 'list_approval_requests',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory, now }) => {
      const found = [...memory.approvalRequests.values()]
        .filter((request) => (statusOf(memory, request, now) === 'pending') !== resolved)
        .sort((one, other) => (one.id < other.id ? -1 : 1))
      const listed = resolved ? found.reverse().slice(0, RESOLVED_MAX) : found
      return answer({ data: listed.map((request) => approvalRequestView(memory, request, now)) })
    },
  }
}
