/** The command of a guarded change, from its stored arguments. */
import type { Callers } from '../../../auth/callers.js'
import type { TenantId } from '../../../base/ids.js'
import type {
  ApprovalRequest,
  GuardedArguments,
  GuardedOperation,
} from '../../changes/approval_requests.js'
import type { Actor } from '../../changes/operator_log.js'
import type { Command } from '../../cycle/command.js'
import { createCaller } from '../callers/caller_create.js'
import { rotateCaller } from '../callers/caller_rotate.js'
import { deposit } from '../funds/deposit.js'
import { releaseRecovery, type ReleaseFindings } from '../operators/recovery_release.js'
import { reversePayout } from '../payouts/payout_resolve.js'
import { approvePayout } from '../payouts/payout_review.js'
import { resolveDiscrepancy } from '../rail_reports/discrepancy_resolve.js'

/** What guarded commands depend on besides their arguments. */
export interface GuardedLinks {
  readonly callers: Callers
  /** Of the release that is approved. */
  readonly findings: ReleaseFindings
}

interface Guarded<O extends GuardedOperation> {
  /** The member of the answer that holds the result. */
  readonly result: string
  command(actor: Actor, given: GuardedArguments[O], links: GuardedLinks): Command
}

const GUARDED: { readonly [O in GuardedOperation]: Guarded<O> } = {
  approve_payout: {
    result: 'payout',
    command: (actor, { payout_id }) => approvePayout(actor, payout_id),
  },
  reverse_payout: {
    result: 'payout',
    command: (actor, { payout_id, evidence }) => reversePayout(actor, payout_id, evidence),
  },
  deposit: {
    result: 'deposit',
    command: (actor, { tenant, idempotency_key: idempotencyKey, ...funds }) =>
      deposit(actor, tenant as TenantId, { ...funds, idempotencyKey }),
  },
  resolve_discrepancy: {
    result: 'discrepancy',
    command: (actor, { discrepancy_id, ...settlement }) =>
      resolveDiscrepancy(actor, discrepancy_id, settlement),
  },
  release_recovery: {
    result: 'release',
    command: (actor, { statement, rail_checked: railChecked, ...given }, { findings }) => {
      const { figures = null, incomplete = false } = given
      return releaseRecovery(actor, { statement, figures, railChecked, incomplete }, findings)
    },
  },
  create_caller: {
    result: 'caller',
    command: (actor, { certificate, ...given }, { callers }) =>
      createCaller(actor, callers, { ...given, ...(certificate === null ? {} : { certificate }) }),
  },
  rotate_caller: {
    result: 'caller',
    command: (actor, { name }, { callers }) => rotateCaller(actor, callers, name),
  },
}

export function guardedCommand(
  request: ApprovalRequest,
  approver: Actor,
  links: GuardedLinks,
): { readonly result: string; readonly command: Command } {
  const guarded = GUARDED[request.operation as GuardedOperation] as Guarded<GuardedOperation>
  const given = JSON.parse(request.arguments) as never
  const actor: Actor = { ...approver, approves: request }
  return { result: guarded.result, command: guarded.command(actor, given, links) }
}
