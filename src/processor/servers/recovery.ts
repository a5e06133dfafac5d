/** The operators' calls for recovery mode, orphan executions and the payments held for them. */
import type { RecoveryHandlers } from '../../../protos/types/causeway/operator/v1/Recovery.js'
import type { Released } from '../../../protos/types/causeway/operator/v1/Released.js'
import type { ReleaseRequest__Output as ReleaseRequest } from '../../../protos/types/causeway/operator/v1/ReleaseRequest.js'
import { instant, toRfc3339 } from '../../base/clock.js'
import { approveIntent, rejectIntent } from '../commands/intents/intent_review.js'
import { addOrphans } from '../commands/operators/orphan_add.js'
import { resolveOrphan } from '../commands/operators/orphan_resolve.js'
import { releaseRecovery } from '../commands/operators/recovery_release.js'
import { answer } from '../cycle/answer.js'
import type { Command } from '../cycle/command.js'
import { listOrphans } from '../queries/orphan_list.js'
import type { Behind } from '../recovery/marks.js'
import {
  operatorWork,
  ownWork,
  unary,
  unaryQuery,
  type UnaryDependencies,
} from './unary_handler.js'

export interface RecoveryDependencies {
  /** The marks that the books are behind (recovery/marks). */
  readonly behind: () => readonly Behind[]
  /** Called when the release is committed: the process restarts. */
  readonly released: () => void
}

export function recoveryService(
  dependencies: UnaryDependencies,
  { behind, released }: RecoveryDependencies,
): RecoveryHandlers {
  const release = unary<ReleaseRequest, Released>(
    dependencies,
    ({ actor, statement, rail_checked: railChecked }) =>
      operatorWork(actor, (a) => releaseRecovery(a, { statement, railChecked }, behind())),
  )
  return {
    Show: unary(dependencies, () => ownWork(showRecovery(behind))),
    AddOrphans: unary(dependencies, ({ actor, executions }) =>
      operatorWork(actor, (a) => addOrphans(a, executions)),
    ),
    Release: (call, callback) =>
      release(call, (error, answered) => {
        callback(error, answered)
        if (error === null) released()
      }),
    ListOrphans: unaryQuery(dependencies, listOrphans),
    ResolveOrphan: unary(
      dependencies,
      ({ actor, instruction_id, payment_id: paymentId, ...found }) =>
        operatorWork(actor, (a) => resolveOrphan(a, instruction_id, { ...found, paymentId })),
    ),
    ApproveIntent: unary(dependencies, ({ actor, intent_id }) =>
      operatorWork(actor, (a) => approveIntent(a, intent_id)),
    ),
    RejectIntent: unary(dependencies, ({ actor, intent_id }) =>
      operatorWork(actor, (a) => rejectIntent(a, intent_id)),
    ),
  }
}

function showRecovery(behind: RecoveryDependencies['behind']): Command {
  return {
    name: 'show_recovery',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory: { recovery, orphans } }) =>
      answer({
        active: recovery !== null,
        cause: recovery?.cause,
        entered_at: recovery === null ? undefined : toRfc3339(instant(recovery.entered_at)),
        behind: behind().map(({ reason }) => reason),
        open_orphans: orphans.open,
      }),
  }
}
