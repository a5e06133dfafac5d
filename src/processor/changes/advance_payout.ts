/**
 * Steps a payout and turns what follows into rows and orders of the same commit.
 *
 * V1. The caller has refused whatever can be refused; from here on it succeeds or the process
 *     stops. An account number that does not open throws before anything has changed.
 */
import { assert, unreachable } from '../../base/assert.js'
import type { Consequence } from '../../../actors/consequence.js'
import type { PayoutEvent } from '../../../actors/payout/context.js'
import { payoutView } from '../../../actors/payout/view.js'
import { postPayout } from './books.js'
import type { Desk } from '../cycle/command.js'
import { publishEvent } from './events.js'
import type { LivePayout } from '../memory/memory.js'
import { accountOfPayout, instructPayout, queryOf } from './orders.js'

export function advancePayout(desk: Desk, live: LivePayout, event: PayoutEvent): void {
  const before = live.context
  const account = mayInstruct(desk, live, event) ? accountOfPayout(desk, before) : null
  desk.memory.payoutHost.open(live)
  desk.group.changes += 1 // memory changes from here on: what throws now stops the process
  const consequences = desk.memory.payoutHost.send(live, event)
  if (live.context === before && consequences.length === 0) return
  for (const consequence of consequences) follow(desk, live, consequence, account)
  stagePayout(desk, live)
}

/** Whether an instruction may follow. */
function mayInstruct({ railUp }: Desk, { state, context }: LivePayout, { type }: PayoutEvent) {
  if (type === 'approve') return railUp && state === 'created'
  if (state !== 'processing') return false
  return type === 'notFound' || (type === 'wake' && railUp && context.handedOverAt === undefined)
}

/** Keeps the actor's snapshot with the group under way. */
export function stagePayout(desk: Desk, live: LivePayout): void {
  const { context, state } = live
  desk.memory.payouts.put(context.id, live, desk.group.number)
  desk.group.stage('payouts', context.id, {
    id: context.id,
    tenant: context.tenant,
    state,
    due_at: context.wakeAt,
    reference: context.reference,
    beneficiary: context.beneficiary.id,
    context,
  })
}

export function publishPayout(desk: Desk, live: LivePayout, event: string): void {
  const { context, state } = live
  publishEvent(desk, context.tenant, context.id, event, {
    payout: payoutView(state, context, desk.rules.brand),
  })
}

function follow(
  desk: Desk,
  live: LivePayout,
  consequence: Consequence,
  account: string | null,
): void {
  const { context } = live
  switch (consequence.type) {
    case 'post':
      return postPayout(desk, context, consequence.plan)
    case 'publish':
      return publishPayout(desk, live, consequence.event)
    case 'instruct':
      assert(account !== null, 'an account was opened before its instruction')
      return void desk.group.orders.push(instructPayout(context, account ?? ''))
    case 'query':
      return void desk.group.orders.push(queryOf(context))
    case 'recall':
    case 'useLimits':
    case 'releaseLimits':
      throw new Error(`broken invariant: a payout does not ${consequence.type}`)
    default:
      return unreachable(consequence)
  }
}
