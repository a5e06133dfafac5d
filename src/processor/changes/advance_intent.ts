/**
 * Steps an intent and turns what follows into rows and orders of the same commit.
 *
 * V1. The caller has refused whatever can be refused; from here on it succeeds or the process
 *     stops. An account number that does not open throws before anything has changed.
 */
import { assert, unreachable } from '../../base/assert.js'
import type { IntentContext, IntentEvent } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { Consequence } from '../../../actors/consequence.js'
import { postIntent } from './books.js'
import type { Desk } from '../cycle/command.js'
import { publishEvent } from './events.js'
import type { LiveIntent } from '../memory/memory.js'
import { accountOfIntent, instructIntent, queryOf, recallOf } from './orders.js'

export function advanceIntent(desk: Desk, live: LiveIntent, event: IntentEvent): void {
  const before = live.context
  const account = mayInstruct(desk, live, event) ? accountOfIntent(desk, before) : null
  desk.memory.intentHost.open(live)
  desk.group.changes += 1 // memory changes from here on: what throws now stops the process
  const consequences = desk.memory.intentHost.send(live, event)
  if (live.context === before && consequences.length === 0) return
  for (const consequence of consequences) follow(desk, live, consequence, account)
  if (!isPayment(live)) desk.memory.recentPayments.remove(live.context)
  stageIntent(desk, live)
}

/** Whether an instruction may follow. */
function mayInstruct({ railUp, now }: Desk, { state, context }: LiveIntent, { type }: IntentEvent) {
  if (type === 'confirm') return railUp && state === 'created'
  if (state !== 'authorized') return false
  const isLate = now >= (context.confirmation?.notAfter ?? now)
  if (type === 'approve') return railUp
  return type === 'notFound' || (type === 'wake' && railUp && !isOut(context) && !isLate)
}

const isOut = ({ handedOverAt }: IntentContext): boolean => handedOverAt !== undefined

/** Something that a further scan of the same code would pay twice. */
const isPayment = ({ state }: LiveIntent): boolean => state === 'authorized' || state === 'captured'

/** Keeps the actor's snapshot with the group under way. */
export function stageIntent(desk: Desk, live: LiveIntent): void {
  const { context, state } = live
  desk.memory.intents.put(context.id, live, desk.group.number)
  desk.group.stage('intents', context.id, {
    id: context.id,
    tenant: context.tenant,
    state,
    due_at: context.wakeAt,
    confirmed_at: context.confirmedAt ?? null,
    context,
  })
}

function follow(
  desk: Desk,
  live: LiveIntent,
  consequence: Consequence,
  account: string | null,
): void {
  const { context, state } = live
  switch (consequence.type) {
    case 'post':
      return postIntent(desk, context, consequence.plan)
    case 'publish':
      return void publishEvent(
        desk,
        context.tenant,
        subjectOf(context, consequence.event),
        consequence.event,
        { payment_intent: intentView(state, context) },
      )
    case 'instruct':
      assert(account !== null, 'an account was opened before its instruction')
      return void desk.group.orders.push(instructIntent(context, account ?? ''))
    case 'query':
      return void desk.group.orders.push(queryOf(context))
    case 'recall':
      return void desk.group.orders.push(recallOf(context))
    case 'useLimits':
      desk.memory.recentPayments.add(context)
      return changeUsage(desk, live, 1n)
    case 'releaseLimits':
      return changeUsage(desk, live, -1n)
    default:
      return unreachable(consequence)
  }
}

/** A refund can fail more than once, and the schema keeps one event of a type for each subject. */
const subjectOf = ({ id, refundsFailed }: IntentContext, event: string): string =>
  event === 'payment_intent.refund_failed' ? `${id}@${refundsFailed}` : id

/** Counts the confirmed amount into, or out of, the periods that the confirmation named. */
function changeUsage({ memory, group }: Desk, live: LiveIntent, sign: 1n | -1n): void {
  const { confirmation, scanned } = live.context
  assert(confirmation !== undefined && scanned !== undefined, 'limits are used by a confirmation')
  const amount = sign * BigInt(scanned.quote.localMinor)
  for (const key of [confirmation.dayKey, confirmation.monthKey]) {
    const used = memory.usage.get(key)
    assert(used !== undefined, 'the usage of a limit was loaded')
    const next = (used ?? 0n) + amount
    memory.usage.put(key, next, group.number)
    group.stage('usage', key, { key, used: next })
  }
}
