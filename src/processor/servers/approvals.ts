/**
 * The operators' calls about changes that a second operator must approve.
 *
 * - In a cluster an approved setting for all shards is appended after its approval is stored: when
 *   that fails, the call fails and the change is requested again.
 */
import type { ApprovalRequest } from '../../../protos/types/causeway/operator/v1/ApprovalRequest.js'
import type { ApprovalsHandlers } from '../../../protos/types/causeway/operator/v1/Approvals.js'
import type { ApprovedRequest } from '../../../protos/types/causeway/operator/v1/ApprovedRequest.js'
import type { DecideApprovalRequest__Output as Decide } from '../../../protos/types/causeway/operator/v1/DecideApprovalRequest.js'
import type { Callers } from '../../auth/callers.js'
import {
  approveRequest,
  listApprovalRequests,
  rejectRequest,
} from '../commands/approvals/approval_request_decide.js'
import {
  isCorrupt,
  type ApprovalRequest as StoredRequest,
  type GuardedArguments,
} from '../changes/approval_requests.js'
import { approvedSetting } from '../commands/approvals/guarded_command.js'
import type { ReleaseFindings } from '../commands/operators/recovery_release.js'
import type { StoredFigures } from '../recovery/statement_figures.js'
import { refusalError } from './grpc_error.js'
import { appendSetting, type SettingLog } from './operator/shared_settings.js'
import { releaseFindings, type RecoveryDependencies } from './recovery.js'
import { originOf, REQUEST_ID_METADATA } from './request_id.js'
import {
  actorIn,
  operatorWork,
  ownWork,
  unary,
  unaryAfter,
  type UnaryDependencies,
} from './unary_handler.js'

export function approvalsService(
  dependencies: UnaryDependencies,
  callers: Callers,
  recovery: RecoveryDependencies,
  cluster?: SettingLog,
): ApprovalsHandlers {
  const isCluster = cluster !== undefined
  const approve = unaryAfter<Decide, ApprovedRequest, ReleaseFindings>(
    dependencies,
    ({ id }) => releaseFindings(recovery, figuresIn(dependencies.memory.approvalRequests.get(id))),
    ({ actor, id }, findings) =>
      operatorWork(actor, (a) => approveRequest(a, id, { callers, findings, isCluster })),
  )
  const settingOf = (
    { operation = '', arguments: given = '' }: ApprovalRequest,
    { caller }: ApprovedRequest,
  ) => approvedSetting(operation, given, caller ?? null)

  return {
    List: unary(dependencies, ({ resolved }) => ownWork(listApprovalRequests(resolved))),
    Approve: (call, callback) => {
      const origin = originOf(call.metadata, 'operator', dependencies)
      if (origin.requestId !== null) call.metadata.set(REQUEST_ID_METADATA, origin.requestId)
      approve(call, (error, reply) => {
        const request = error === null ? reply?.request : null
        const approved = cluster && request && reply ? settingOf(request, reply) : null
        const actor = actorIn(call.request.actor)
        if (!cluster || !approved || !actor) {
          callback(error, reply)
          if (error === null && reply?.release) recovery.released()
          return
        }
        const view = reply?.[approved.result] ?? {}
        void appendSetting(cluster, { ...approved, view }, actor, origin).then((stored) => {
          if (stored.ok) callback(null, { ...reply, [approved.result]: stored.view })
          else callback(refusalError(stored))
        })
      })
    },
    Reject: unary(dependencies, ({ actor, id }) =>
      operatorWork(actor, (a) => rejectRequest(a, id)),
    ),
  }
}

/** The figures of the statement of a requested release. */
function figuresIn(request: StoredRequest | undefined): StoredFigures | null {
  if (request?.operation !== 'release_recovery' || isCorrupt(request)) return null
  const { figures } = JSON.parse(request.arguments) as GuardedArguments['release_recovery']
  return figures ?? null
}
