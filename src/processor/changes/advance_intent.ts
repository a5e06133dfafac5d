/**
 * Sends an event to an intent's machine and stages its outputs in the same commit.
 *
 * - The caller has checked every refusal; from here on it succeeds or the process stops. An account
 *   number that cannot be decrypted throws before anything has changed.
 * - An intent is compared with the orphan executions again when it is submitted by its timer or
 *   sent again: they may have become known since its confirmation. One that matches is held
 *   instead.
 */
import { assert, unreachable } from '../../base/assert.js'
import { isHeld } from '../../../actors/hold.js'
import type { IntentContext, IntentEvent } from '../../../actors/intent/context.js'
import { intentTransitions } from '../../../actors/intent/machine.js'
import { intentView } from '../../../actors/intent/view.js'
import type { MachineOutput } from '../../../actors/output.js'
import { storedContext } from '../../../actors/stored_context.js'
import { postIntent } from './books.js'
import type { CommandContext } from '../cycle/command.js'
import { publishEvent } from './event_publish.js'
import { usageOf } from './limit_usage.js'
import { holdFor, orphanOfIntent } from './orphans.js'
import { recordTransition } from './transitions.js'
import type { LiveIntent } from '../cache/memory.js'
import { railOf } from './payment_rail.js'
import { joinTrace, keepTrace } from './payment_trace.js'
import {
  accountOfIntent,
  instructIntent,
  sendQuery,
  sendRecall,
  tracedBy,
} from './rail_instructions.js'

export function advanceIntent(ctx: CommandContext, live: LiveIntent, event: IntentEvent): void {
  joinTrace(ctx, live)
  const { context: before, state: from } = live
  const instructs = mayInstruct(ctx, live, event)
  const account = instructs ? accountOfIntent(ctx, before) : null
  const isCompared = instructs && (event.type === 'timer' || event.type === 'notFound')
  const orphan = isCompared ? orphanOfIntent(ctx, before) : undefined
  const step = intentTransitions.step(
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
  if (!isPayment(live)) ctx.memory.recentPayments.remove(live.context)
  if (live.state !== from) recordTransition(ctx, live, from)
  stageIntent(ctx, live)
}

/** Whether the event may lead to an instruction, which needs the account number. */
function mayInstruct(
  { now }: CommandContext,
  { state, context }: LiveIntent,
  event: IntentEvent,
): boolean {
  const { type } = event
  const railUp = 'railUp' in event && event.railUp
  if (type === 'confirm') return railUp && state === 'created'
  if (state !== 'authorized') return false
  const isLate = now >= (context.confirmation?.notAfter ?? now)
  if (type === 'approve') return railUp
  if (isHeld(context)) return false
  return type === 'notFound' || (type === 'timer' && railUp && !isSubmitted(context) && !isLate)
}

const isSubmitted = ({ submittedAt }: IntentContext): boolean => submittedAt !== undefined

/** True when another scan of the same code would pay twice. */
const isPayment = ({ state }: LiveIntent): boolean => state === 'authorized' || state === 'captured'

/** Stages the actor's snapshot. */
export function stageIntent(ctx: CommandContext, live: LiveIntent): void {
  const { context, state } = live
  ctx.memory.intents.set(context.id, live, ctx.batch.number)
  ctx.batch.stage('intents', context.id, {
    id: context.id,
    tenant: context.tenant,
    state,
    due_at: context.dueAt,
    confirmed_at: context.confirmedAt ?? null,
    context: storedContext(context),
  })
}

function applyOutput(
  ctx: CommandContext,
  live: LiveIntent,
  output: MachineOutput,
  account: string | null,
): void {
  const { context, state } = live
  switch (output.type) {
    case 'post':
      return postIntent(ctx, context, output.plan)
    case 'publish':
      return void publishEvent(
        ctx,
        context.tenant,
        subjectOf(context, output.event),
        output.event,
        { payment_intent: intentView(state, context) },
      )
    case 'instruct':
      assert(account !== null, 'the account number is decrypted before its instruction')
      return ctx.batch.addInstruction(
        railOf(context),
        instructIntent(context, account ?? '', tracedBy(ctx)),
      )
    case 'query':
      return sendQuery(ctx, context)
    case 'recall':
      return sendRecall(ctx, context)
    case 'useLimits':
      ctx.memory.recentPayments.add(context)
      return changeUsage(ctx, live, 1n)
    case 'releaseLimits':
      return changeUsage(ctx, live, -1n)
    default:
      return unreachable(output)
  }
}

/** A refund can fail more than once; the schema allows one event per type and subject. */
const subjectOf = ({ id, refundsFailed }: IntentContext, event: string): string =>
  event === 'payment_intent.refund_failed' ? `${id}@${refundsFailed}` : id

/** Adds the confirmed amount to the usage of its day and month, or subtracts it. */
function changeUsage({ memory, batch }: CommandContext, live: LiveIntent, sign: 1n | -1n): void {
  const { confirmation, scanned } = live.context
  assert(
    confirmation !== undefined && scanned !== undefined,
    'limits are used by a confirmed intent',
  )
  const amount = sign * BigInt(scanned.quote.localMinor)
  for (const key of [confirmation.dayKey, confirmation.monthKey]) {
    const used = memory.usage.get(key)
    assert(used !== undefined, 'the usage of a limit is loaded')
    const next = usageOf(memory, key, (used ?? 0n) + amount)
    memory.usage.set(key, next, batch.number)
    batch.stage('usage', key, { key, used: next })
  }
}
