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
import type { RecoveryDependencies } from './recovery.js'
import { operatorWork, ownWork, unary, type UnaryDependencies } from './unary_handler.js'

export function approvalsService(
  dependencies: UnaryDependencies,
  callers: Callers,
  { behind, released }: RecoveryDependencies,
): ApprovalsHandlers {
  const approve = unary<Decide, ApprovedRequest>(dependencies, ({ actor, id }) =>
    operatorWork(actor, (a) => approveRequest(a, id, { callers, behind })),
  )
  return {
    List: unary(dependencies, ({ resolved }) => ownWork(listApprovalRequests(resolved))),
    Approve: (call, callback) =>
      approve(call, (error, answered) => {
        callback(error, answered)
        if (error === null && answered?.release) released()
      }),
    Reject: unary(dependencies, ({ actor, id }) =>
      operatorWork(actor, (a) => rejectRequest(a, id)),
    ),
  }
}
