/**
 * Steps an intent and turns what follows into rows and orders of the same commit.
 *
 * - The caller has refused whatever can be refused; from here on it succeeds or the process
 *   stops. An account number that does not open throws before anything has changed.
 */
import { assert, unreachable } from '../../base/assert.js'
import type { IntentContext, IntentEvent } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { MachineOutput } from '../../../actors/output.js'
import { postIntent } from './books.js'
import type { CommandContext } from '../cycle/command.js'
import { publishEvent } from './event_publish.js'
import type { LiveIntent } from '../cache/memory.js'
import { accountOfIntent, instructIntent, queryOf, recallOf } from './rail_instructions.js'

export function advanceIntent(ctx: CommandContext, live: LiveIntent, event: IntentEvent): void {
  const before = live.context
  const account = mayInstruct(ctx, live, event) ? accountOfIntent(ctx, before) : null
  ctx.memory.intentHost.open(live)
  ctx.batch.changes += 1 // memory changes from here on: what throws now stops the process
  const outputs = ctx.memory.intentHost.send(live, event)
  if (live.context === before && outputs.length === 0) return
  for (const output of outputs) applyOutput(ctx, live, output, account)
  if (!isPayment(live)) ctx.memory.recentPayments.remove(live.context)
  stageIntent(ctx, live)
}

/** Whether an instruction may follow. */
function mayInstruct(
  { railUp, now }: CommandContext,
  { state, context }: LiveIntent,
  { type }: IntentEvent,
) {
  if (type === 'confirm') return railUp && state === 'created'
  if (state !== 'authorized') return false
  const isLate = now >= (context.confirmation?.notAfter ?? now)
  if (type === 'approve') return railUp
  return type === 'notFound' || (type === 'timer' && railUp && !isOut(context) && !isLate)
}

const isOut = ({ handedOverAt: submittedAt }: IntentContext): boolean => submittedAt !== undefined

/** Something that a further scan of the same code would pay twice. */
const isPayment = ({ state }: LiveIntent): boolean => state === 'authorized' || state === 'captured'

/** Keeps the actor's snapshot with the batch under way. */
export function stageIntent(ctx: CommandContext, live: LiveIntent): void {
  const { context, state } = live
  ctx.memory.intents.set(context.id, live, ctx.batch.number)
  ctx.batch.stage('intents', context.id, {
    id: context.id,
    tenant: context.tenant,
    state,
    due_at: context.wakeAt,
    confirmed_at: context.confirmedAt ?? null,
    context,
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
      assert(account !== null, 'an account was opened before its instruction')
      return void ctx.batch.instructions.push(instructIntent(context, account ?? ''))
    case 'query':
      return void ctx.batch.instructions.push(queryOf(context))
    case 'recall':
      return void ctx.batch.instructions.push(recallOf(context))
    case 'useLimits':
      ctx.memory.recentPayments.add(context)
      return changeUsage(ctx, live, 1n)
    case 'releaseLimits':
      return changeUsage(ctx, live, -1n)
    default:
      return unreachable(output)
  }
}

/** A refund can fail more than once, and the schema keeps one event of a type for each subject. */
const subjectOf = ({ id, refundsFailed }: IntentContext, event: string): string =>
  event === 'payment_intent.refund_failed' ? `${id}@${refundsFailed}` : id

/** Counts the confirmed amount into, or out of, the periods that the confirmation named. */
function changeUsage({ memory, batch }: CommandContext, live: LiveIntent, sign: 1n | -1n): void {
  const { confirmation, scanned } = live.context
  assert(confirmation !== undefined && scanned !== undefined, 'limits are used by a confirmation')
  const amount = sign * BigInt(scanned.quote.localMinor)
  for (const key of [confirmation.dayKey, confirmation.monthKey]) {
    const used = memory.usage.get(key)
    assert(used !== undefined, 'the usage of a limit was loaded')
    const next = (used ?? 0n) + amount
    memory.usage.set(key, next, batch.number)
    batch.stage('usage', key, { key, used: next })
  }
}
