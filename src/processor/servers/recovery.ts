/**
 * The operators' calls of recovery mode, and about what it leaves to decide: orphan executions and
 * the payments that are held for them.
 */
import type { RecoveryHandlers } from '../../../protos/types/causeway/v1/Recovery.js'
import type { Released } from '../../../protos/types/causeway/v1/Released.js'
import type { ReleaseRequest__Output as ReleaseRequest } from '../../../protos/types/causeway/v1/ReleaseRequest.js'
import { instant, toRfc3339 } from '../../base/clock.js'
import { approveIntent, rejectIntent } from '../commands/intents/intent_review.js'
import { addOrphans } from '../commands/operators/orphan_add.js'
import { resolveOrphan } from '../commands/operators/orphan_resolve.js'
import { releaseRecovery } from '../commands/operators/recovery_release.js'
import { answer } from '../cycle/answer.js'
import type { Command } from '../cycle/command.js'
import { listOrphans } from '../queries/orphan_list.js'
import type { Behind } from '../recovery/marks.js'
import { by, ours } from './operator/calls.js'
import { unary, unaryQuery, type UnaryDependencies } from './unary_handler.js'

export interface RecoveryDependencies {
  /** What the books were found behind of. */
  readonly behind: () => readonly Behind[]
  /** Called when the release is on disk: the process starts anew. */
  readonly released: () => void
}

export function recoveryService(
  dependencies: UnaryDependencies,
  { behind, released }: RecoveryDependencies,
): RecoveryHandlers {
  const release = unary<ReleaseRequest, Released>(
    dependencies,
    ({ actor, statement, rail_checked: railChecked }) =>
      ours(by(actor, (a) => releaseRecovery(a, { statement, railChecked }, behind()))),
  )
  return {
    Show: unary(dependencies, () => ours(showRecovery(behind))),
    AddOrphans: unary(dependencies, ({ actor, executions }) =>
      ours(by(actor, (a) => addOrphans(a, executions))),
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
        ours(by(actor, (a) => resolveOrphan(a, instruction_id, { ...found, paymentId }))),
    ),
    ApproveIntent: unary(dependencies, ({ actor, intent_id }) =>
      ours(by(actor, (a) => approveIntent(a, intent_id))),
    ),
    RejectIntent: unary(dependencies, ({ actor, intent_id }) =>
      ours(by(actor, (a) => rejectIntent(a, intent_id))),
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
