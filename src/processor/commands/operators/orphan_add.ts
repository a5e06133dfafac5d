/**
 * Stores orphan executions: instructions that the rail's statement shows as executed, or as
 * accepted and not executed, and that the restored books do not contain.
 *
 * - Accepted only in recovery mode, so before any payment that could match one is decided.
 * - An instruction that these books submitted is not an orphan: the rail reports its outcome under
 *   its own id and never executes it twice.
 * - The same again changes nothing, except what became of a known one at the rail: books that were
 *   restored twice can have missed its execution or return. One that was dismissed while it was
 *   accepted is open again once it is executed.
 * - A returned one that these books do not have moved nothing.
 * - A payment that these books have as paid and the statement as returned, or as failed and
 *   executed, gets a timer that asks the rail: it does not report again by itself what it has
 *   reported. The timer runs after the release, and asks for a day until the rail answers. A
 *   payment that an orphan execution paid is not asked about.
 */
import { parsePositiveInt64 } from '../../../money/money.js'
import { ENVIRONMENTS, PREFIX } from '../../../base/ids.js'
import { PURPOSES } from '../../../rails/rail.js'
import type { OrphanExecution__Output as Execution } from '../../../../protos/types/causeway/operator/v1/OrphanExecution.js'
import { stageIntent } from '../../changes/advance_intent.js'
import { stagePayout } from '../../changes/advance_payout.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { destinationDigest, stageOrphan } from '../../changes/orphans.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import type { LiveIntent, LivePayout, Memory } from '../../cache/memory.js'
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
      const stated = executions.map((execution) => orphanOf(ctx, recovery.number, execution))
      if (!stated.every((orphan) => orphan !== null)) return refuse('invalid_request')

      // From here on it must succeed.
      let added = 0
      for (const each of stated) {
        const orphan = orphanFor(ctx.memory, each)
        if (orphan !== null) {
          stageOrphan(ctx, orphan)
          added += 1
        }
        if (each.state !== 'accepted') inquireIfDifferent(ctx, each)
      }
      if (added > 0) logAction(ctx, actor, 'add_orphans', `${added} executions`)
      return answer({ added, known: stated.length - added })
    },
  }
}

/** The orphan as it is stored for a line of the statement. Null if nothing changes. */
function orphanFor(memory: Memory, stated: Orphan): Orphan | null {
  if (isSubmitted(memory, stated.instruction)) return null
  const known = memory.orphans.get(stated.instruction)
  const { state, transaction_id } = stated
  if (known === undefined) return state === 'returned' ? null : stated
  const isExecuted = known.state === 'accepted' && state === 'executed'
  const isReturned = known.state === 'accepted' || known.state === 'executed'
  if (isExecuted && known.status !== 'matched') {
    return { ...known, state, transaction_id, status: 'open', resolved_at: null }
  }
  if (state !== 'returned' || !isReturned || known.status !== 'open') return null
  return { ...known, state, transaction_id }
}

function inquireIfDifferent(ctx: CommandContext, { instruction, state }: Orphan): void {
  const { intents, payouts } = ctx.memory
  const intent = intents.get(instruction)
  if (intent && isUnasked(intent, state === 'returned' ? 'captured' : 'failed')) {
    intent.context = { ...intent.context, inquiredSince: ctx.now, dueAt: ctx.now }
    stageIntent(ctx, intent)
  }
  const payout = payouts.get(instruction)
  if (payout && isUnasked(payout, state === 'returned' ? 'completed' : 'failed')) {
    payout.context = { ...payout.context, inquiredSince: ctx.now, dueAt: ctx.now }
    stagePayout(ctx, payout)
  }
}

/** Whether it was submitted, is in this state, and has no timer that asks already. */
const isUnasked = (
  { state, context: { submittedAt, dueAt } }: LiveIntent | LivePayout,
  wanted: 'captured' | 'completed' | 'failed',
): boolean => state === wanted && submittedAt !== undefined && dueAt === null

function isSubmitted({ intents, payouts }: Memory, id: string): boolean {
  const live = id.startsWith(PREFIX.intent) ? intents.get(id) : payouts.get(id)
  return live?.context.submittedAt !== undefined
}

const STATES = ['accepted', 'executed', 'returned'] as const

/** Null when the execution is not valid. */
function orphanOf(
  { vault }: CommandContext,
  recovery: number,
  execution: Execution,
): Orphan | null {
  const { environment, purpose, destination_account: account } = execution
  const amount = parsePositiveInt64(execution.amount)
  const executedAt = Number(execution.executed_at)
  const state = STATES.find((known) => known === (execution.state || 'executed'))
  const isKnown =
    execution.instruction_id !== '' &&
    (environment === undefined || ENVIRONMENTS.some((known) => known === environment)) &&
    (purpose === undefined || PURPOSES.some((known) => known === purpose)) &&
    /^[A-Z]{3}$/.test(execution.currency) &&
    executedAt > 0
  if (!isKnown || amount === undefined || state === undefined) return null
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
    rail: null,
  }
}
