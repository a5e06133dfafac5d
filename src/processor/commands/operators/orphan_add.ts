/**
 * Stores orphan executions: instructions that the rail's statement shows as executed, or as
 * accepted and not executed, and that the restored books do not contain.
 *
 * - Accepted only in recovery mode, so before any payment that could match one is decided.
 * - An instruction that these books submitted is not an orphan: the rail reports its outcome under
 *   its own id and never executes it twice.
 * - The same again changes nothing, except that an accepted instruction becomes an execution: books
 *   that were restored twice can have missed the report of it.
 */
import { parsePositiveInt64 } from '../../../money/money.js'
import { ENVIRONMENTS, PREFIX } from '../../../base/ids.js'
import { PURPOSES } from '../../../rails/rail.js'
import type { OrphanExecution__Output as Execution } from '../../../../protos/types/causeway/operator/v1/OrphanExecution.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { destinationDigest, stageOrphan } from '../../changes/orphans.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import type { Memory } from '../../cache/memory.js'
import type { Orphan } from '../../cache/orphan_index.js'

const ORPHANS_AT_ONCE = 500

export function addOrphans(actor: Actor, executions: readonly Execution[]): Command {
  return {
    name: 'add_orphans',
    allowedInRecovery: true,
    needs: (needs) => {
      for (const { instruction_id: id } of executions) {
        if (id.startsWith(PREFIX.intent)) needs.intent(id)
        else needs.payout(id)
      }
    },
    decide: (ctx) => {
      const { recovery } = ctx.memory
      if (recovery === null || recovery.released_at !== null) return refuse('recovery_not_active')
      if (executions.length > ORPHANS_AT_ONCE) return refuse('invalid_request')
      const orphans = executions.map((execution) => orphanOf(ctx, recovery.number, execution))
      if (!orphans.every((orphan) => orphan !== null)) return refuse('invalid_request')
      const isNew = (orphan: Orphan): boolean => {
        const known = ctx.memory.orphans.get(orphan.instruction)
        if (known !== undefined) return isExecutionOf(known, orphan)
        return !isSubmitted(ctx.memory, orphan.instruction)
      }
      const added = orphans.filter(isNew)

      // From here on it must succeed.
      for (const orphan of added) {
        const known = ctx.memory.orphans.get(orphan.instruction)
        const { state, transaction_id } = orphan
        stageOrphan(ctx, known === undefined ? orphan : { ...known, state, transaction_id })
      }
      if (added.length > 0) {
        logAction(ctx, actor, 'add_orphans', `${added.length} executions`)
      }
      return answer({ added: added.length, known: orphans.length - added.length })
    },
  }
}

function isSubmitted({ intents, payouts }: Memory, id: string): boolean {
  const live = id.startsWith(PREFIX.intent) ? intents.get(id) : payouts.get(id)
  return live?.context.submittedAt !== undefined
}

const isExecutionOf = (known: Orphan, stated: Orphan): boolean =>
  known.state === 'accepted' && known.status === 'open' && stated.state === 'executed'

const isState = (text: string): text is 'accepted' | 'executed' =>
  text === 'accepted' || text === 'executed'

/** Null when the execution is not valid. */
function orphanOf(
  { vault }: CommandContext,
  recovery: number,
  execution: Execution,
): Orphan | null {
  const { environment, purpose, destination_account: account } = execution
  const amount = parsePositiveInt64(execution.amount)
  const executedAt = Number(execution.executed_at)
  const state = execution.state || 'executed'
  const isKnown =
    execution.instruction_id !== '' &&
    (environment === undefined || ENVIRONMENTS.some((known) => known === environment)) &&
    (purpose === undefined || PURPOSES.some((known) => known === purpose)) &&
    /^[A-Z]{3}$/.test(execution.currency) &&
    isState(state) &&
    executedAt > 0
  if (!isKnown || amount === undefined) return null
  return {
    instruction: execution.instruction_id,
    recovery,
    environment: environment ?? null,
    purpose: purpose ?? null,
    destination: account === undefined ? null : destinationDigest(vault, account),
    account_last4: /[a-z0-9]{4}$/i.exec(account ?? '')?.[0] ?? null,
    amount,
    currency: execution.currency,
    reference: execution.reference || null,
    transaction_id: execution.transaction_id,
    executed_at: executedAt,
    status: 'open',
    matched_to: null,
    resolved_at: null,
    state,
  }
}
