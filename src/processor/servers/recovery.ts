/** The operators' calls for recovery mode, orphan executions and the payments held for them. */
import type { RecoveryHandlers } from '../../../protos/types/causeway/operator/v1/Recovery.js'
import type { Released } from '../../../protos/types/causeway/operator/v1/Released.js'
import type { ReleaseRequest__Output as ReleaseRequest } from '../../../protos/types/causeway/operator/v1/ReleaseRequest.js'
import type { StatementFigures__Output as WireFigures } from '../../../protos/types/causeway/operator/v1/StatementFigures.js'
import { instant, toRfc3339 } from '../../base/clock.js'
import { approveIntent, rejectIntent } from '../commands/intents/intent_review.js'
import { noteAction } from '../commands/operators/action_note.js'
import { addOrphans } from '../commands/operators/orphan_add.js'
import { resolveOrphan } from '../commands/operators/orphan_resolve.js'
import {
  releaseRecovery,
  type RailCheck,
  type ReleaseFindings,
} from '../commands/operators/recovery_release.js'
import { answer } from '../cycle/answer.js'
import type { Command } from '../cycle/command.js'
import { listHeldIntents } from '../queries/held_intent_list.js'
import { listOrphans } from '../queries/orphan_list.js'
import type { Behind } from '../recovery/marks.js'
import type { StatementChecker } from '../recovery/statement_check.js'
import {
  readFigures,
  storedFigures,
  writeSums,
  type StoredFigures,
} from '../recovery/statement_figures.js'
import { grpcError } from './grpc_error.js'
import type { ModeState } from '../background/recovery.js'
import {
  actingAs,
  operatorWork,
  ownWork,
  unary,
  unaryAfter,
  unaryQuery,
  type UnaryDependencies,
} from './unary_handler.js'

export interface RecoveryDependencies {
  /** The marks that the books are behind (recovery/marks). */
  readonly behind: () => readonly Behind[]
  readonly isBusChecked: () => boolean
  readonly statements: StatementChecker
  /** As the rail names these books. Absent if they are the only ones. */
  readonly shard?: string
  /** How the processor serves. Default: in normal mode. */
  readonly mode?: () => ModeState
  /** Called when the release is committed: the process restarts. */
  readonly released: () => void
}

export function recoveryService(
  dependencies: UnaryDependencies,
  recovery: RecoveryDependencies,
): RecoveryHandlers {
  const { behind, isBusChecked, statements, shard, mode = () => NORMAL, released } = recovery
  const { memory } = dependencies
  const release = unaryAfter<ReleaseRequest, Released, ReleaseFindings>(
    dependencies,
    ({ figures }) => releaseFindings(recovery, figures),
    ({ actor, ...given }, findings) =>
      operatorWork(actor, (a) => releaseRecovery(a, railCheckOf(given), findings)),
  )
  return {
    Show: unaryAfter(
      dependencies,
      () => (memory.recovery === null ? NOTHING_NEEDED : statementNeeded(statements)),
      (_request, needed) => ownWork(showRecovery({ behind, isBusChecked, mode, shard }, needed)),
    ),
    AddOrphans: unary(dependencies, ({ actor, executions }) =>
      operatorWork(actor, (a) => addOrphans(a, executions)),
    ),
    CheckStatement: ({ request }, callback) => {
      const figures = request.figures && readFigures(request.figures)
      if (figures === null) return callback(grpcError('invalid_request'))
      statements.check(figures).then(
        ({ faults, rail }) =>
          callback(null, {
            faults: [...faults],
            rail: [...writeSums(rail?.sums ?? [])],
            rail_known: rail !== null,
          }),
        () => callback(grpcError('configuration_error')),
      )
    },
    Release: (call, callback) =>
      release(call, (error, reply) => {
        callback(error, reply)
        if (error === null) released()
      }),
    ListOrphans: unaryQuery(dependencies, listOrphans),
    ListHeldIntents: unaryQuery(dependencies, listHeldIntents),
    ResolveOrphan: unary(
      dependencies,
      ({ actor, instruction_id, payment_id: paymentId, ...found }) =>
        operatorWork(actor, (a) => resolveOrphan(a, instruction_id, { ...found, paymentId })),
    ),
    ApproveIntent: unary(dependencies, ({ actor, intent_id, other_than }) =>
      operatorWork(actor, (a) => approveIntent(a, intent_id, other_than)),
    ),
    RejectIntent: unary(dependencies, ({ actor, intent_id }) =>
      operatorWork(actor, (a) => rejectIntent(a, intent_id)),
    ),
    NoteBackup: unary(dependencies, ({ actor, backup, outcome }) =>
      ownWork(
        backup.trim() === ''
          ? null
          : actingAs(actor, (a) =>
              noteAction(a, { action: 'backup', subject: backup, evidence: outcome }),
            ),
      ),
    ),
  }
}

/** @param figures null, also invalid ones: the command decides what a missing statement means */
export async function releaseFindings(
  {
    behind,
    isBusChecked,
    statements,
  }: Pick<RecoveryDependencies, 'behind' | 'isBusChecked' | 'statements'>,
  figures: WireFigures | StoredFigures | null,
): Promise<ReleaseFindings> {
  const read = figures && readFigures(figures)
  const { faults } = read === null ? { faults: [] } : await statements.check(read)
  return { behind: behind(), faults, isBusChecked: isBusChecked() }
}

function railCheckOf({
  statement,
  rail_checked: railChecked,
  incomplete,
  ...given
}: Omit<ReleaseRequest, 'actor'>): RailCheck {
  const figures = given.figures && readFigures(given.figures)
  return {
    ...{ statement: statement ?? null, railChecked, incomplete },
    figures: figures && storedFigures(figures),
  }
}

/** What `recovery show` says about the statement of the release. */
interface StatementNeeded {
  readonly statement_begins?: string
  readonly newest_at_rail?: string
}

const NOTHING_NEEDED: Promise<StatementNeeded> = Promise.resolve({})

async function statementNeeded(statements: StatementChecker): Promise<StatementNeeded> {
  const [begins, newest] = await Promise.all([statements.beginsBefore(), statements.newestAtRail()])
  return {
    ...(begins === null ? {} : { statement_begins: toRfc3339(begins) }),
    ...(newest === null ? {} : { newest_at_rail: newest }),
  }
}

const NORMAL: ModeState = { mode: 'normal' }

type Shown = Required<Pick<RecoveryDependencies, 'behind' | 'isBusChecked' | 'mode'>> & {
  readonly shard: string | undefined
}

function showRecovery(
  { behind, isBusChecked, mode, shard }: Shown,
  needed: StatementNeeded,
): Command {
  return {
    name: 'show_recovery',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory: { recovery, orphans } }) => {
      const state = mode()
      return answer({
        active: recovery !== null,
        cause: recovery?.cause,
        entered_at: recovery === null ? undefined : toRfc3339(instant(recovery.entered_at)),
        behind: behind().map(({ reason }) => reason),
        bus_not_checked: recovery !== null && !isBusChecked(),
        open_orphans: orphans.open,
        ...needed,
        stops: recovery?.stops,
        unverified: state.mode === 'unverified' ? state.reason : undefined,
        shard,
      })
    },
  }
}
