/** The operators' calls about changes that a second operator must approve. */
import type { ApprovalsHandlers } from '../../../protos/types/causeway/operator/v1/Approvals.js'
import type { ApprovedRequest } from '../../../protos/types/causeway/operator/v1/ApprovedRequest.js'
import type { DecideApprovalRequest__Output as Decide } from '../../../protos/types/causeway/operator/v1/DecideApprovalRequest.js'
import type { Callers } from '../../auth/callers.js'
import {
  approveRequest,
  listApprovalRequests,
  rejectRequest,
} from '../commands/approvals/approval_request_decide.js'
import type { ApprovalRequest, GuardedArguments } from '../changes/approval_requests.js'
import type { ReleaseFindings } from '../commands/operators/recovery_release.js'
import type { StoredFigures } from '../recovery/statement_figures.js'
import { releaseFindings, type RecoveryDependencies } from './recovery.js'
import {
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
): ApprovalsHandlers {
  const approve = unaryAfter<Decide, ApprovedRequest, ReleaseFindings>(
    dependencies,
    ({ id }) => releaseFindings(recovery, figuresIn(dependencies.memory.approvalRequests.get(id))),
    ({ actor, id }, findings) =>
      operatorWork(actor, (a) => approveRequest(a, id, { callers, findings })),
  )
  return {
    List: unary(dependencies, ({ resolved }) => ownWork(listApprovalRequests(resolved))),
    Approve: (call, callback) =>
      approve(call, (error, answered) => {
        callback(error, answered)
        if (error === null && answered?.release) recovery.released()
      }),
    Reject: unary(dependencies, ({ actor, id }) =>
      operatorWork(actor, (a) => rejectRequest(a, id)),
    ),
  }
}

/** The figures of the statement of a requested release. */
function figuresIn(request: ApprovalRequest | undefined): StoredFigures | null {
  if (request?.operation !== 'release_recovery') return null
  const { figures } = JSON.parse(request.arguments) as GuardedArguments['release_recovery']
  return figures ?? null
}
