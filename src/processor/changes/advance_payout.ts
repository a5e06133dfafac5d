/**
 * Sends an event to a payout's machine and stages its outputs in the same commit.
 *
 * - The caller has checked every refusal; from here on it succeeds or the process stops. An account
 *   number that cannot be decrypted throws before anything has changed.
 * - A payout is compared with the orphan executions again when it is submitted by its timer or sent
 *   again: they may have become known since its acceptance. One that matches is held instead.
 */
import { assert, unreachable } from '../../base/assert.js'
import type { MachineOutput } from '../../../actors/output.js'
import { isHeld } from '../../../actors/hold.js'
import { isUnderReview, type PayoutEvent } from '../../../actors/payout/context.js'
import { payoutTransitions } from '../../../actors/payout/machine.js'
import { payoutView } from '../../../actors/payout/view.js'
import { storedContext } from '../../../actors/stored_context.js'
import { postPayout } from './books.js'
import type { CommandContext } from '../cycle/command.js'
import { publishEvent } from './event_publish.js'
import { holdFor, orphanOfPayout } from './orphans.js'
import { recordTransition } from './transitions.js'
import type { LivePayout } from '../cache/memory.js'
import { railOf } from './payment_rail.js'
import { joinTrace, keepTrace } from './payment_trace.js'
import { accountOfPayout, instructPayout, sendQuery, tracedBy } from './rail_instructions.js'

/** @param opened the account number, when the caller has decrypted it already */
export function advancePayout(
  ctx: CommandContext,
  live: LivePayout,
  event: PayoutEvent,
  opened: string | null = null,
): void {
  joinTrace(ctx, live)
  const { context: before, state: from } = live
  const instructs = mayInstruct(live, event)
  const account = opened ?? (instructs ? accountOfPayout(ctx, before) : null)
  const orphan = instructs && event.type !== 'approve' ? orphanOfPayout(ctx, before) : undefined
  const step = payoutTransitions.step(
    from,
    before,
    orphan === undefined ? event : { type: 'hold', at: event.at, heldFor: holdFor(ctx, orphan) },
  )
  if (step === null) return
  ctx.batch.changes += 1 // memory changes from here on: an error stops the process
  live.state = step.state
  live.context = step.context
  keepTrace(ctx, live)
  for (const output of step.outputs) applyOutput(ctx, live, output, account)
  if (live.state !== from) recordTransition(ctx, live, from)
  stagePayout(ctx, live)
}

/** Whether the event may lead to an instruction, which needs the account number. */
function mayInstruct({ state, context }: LivePayout, event: PayoutEvent): boolean {
  const { type } = event
  const railUp = 'railUp' in event && event.railUp
  if (type === 'approve') return railUp && isUnderReview(state, context)
  if (state !== 'processing' || isHeld(context)) return false
  return type === 'notFound' || (type === 'timer' && railUp && context.submittedAt === undefined)
}

/** Stages the actor's snapshot. */
export function stagePayout(ctx: CommandContext, live: LivePayout): void {
  const { context, state } = live
  ctx.memory.payouts.set(context.id, live, ctx.batch.number)
  ctx.batch.stage('payouts', context.id, {
    id: context.id,
    tenant: context.tenant,
    state,
    due_at: context.dueAt,
    reference: context.reference,
    beneficiary: context.beneficiary.id,
    context: storedContext(context),
  })
}

export function publishPayout(ctx: CommandContext, live: LivePayout, event: string): void {
  const { context, state } = live
  publishEvent(ctx, context.tenant, context.id, event, {
    payout: payoutView(state, context, ctx.rules.brand),
  })
}

function applyOutput(
  ctx: CommandContext,
  live: LivePayout,
  output: MachineOutput,
  account: string | null,
): void {
  const { context } = live
  switch (output.type) {
    case 'post':
      return postPayout(ctx, context, output.plan)
    case 'publish':
      return publishPayout(ctx, live, output.event)
    case 'instruct':
      assert(account !== null, 'the account number is decrypted before its instruction')
      return ctx.batch.addInstruction(
        railOf(context),
        instructPayout(context, account ?? '', tracedBy(ctx)),
      )
    case 'query':
      return sendQuery(ctx, context)
    case 'recall':
    case 'useLimits':
    case 'releaseLimits':
      throw new Error(`broken invariant: a payout does not ${output.type}`)
    default:
      return unreachable(output)
  }
}
