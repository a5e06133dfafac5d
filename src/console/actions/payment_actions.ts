/** Decisions on payments, payouts, discrepancies and requests of other operators. */
import { formatWireAmount } from '../../operations/cli/amounts.js'
import { missingShardsIn } from '../../operations/calls/shards.js'
import { dismissElsewhere } from '../../operations/operators/approved_match.js'
import type { Notice } from '../session/sessions.js'
import { actorOf, done, type Action, type ActionContext } from './action.js'
import { issuedNotice } from './partner_actions.js'

/** The entity, and where the decision can be verified. */
const payout = (context: ActionContext) => ({
  actor: actorOf(context),
  payout_id: context.field('id'),
})
const intent = (context: ActionContext) => ({
  actor: actorOf(context),
  intent_id: context.field('id'),
})
const evidence = ({ field }: ActionContext) => ({ evidence: field('evidence') })
const otherThan = ({ field }: ActionContext) => ({
  other_than: field('other_than')
    .split(/[\s,]+/)
    .filter((id) => id !== ''),
})
const outcome = ({ field }: ActionContext) => ({ outcome: field('outcome') })

export const PAYMENT_ACTIONS: Readonly<Record<string, Action>> = {
  'approve-payout': async (ctx) =>
    ofPayout(
      await ctx.clients.operator.call('ApprovePayout', { ...payout(ctx), ...otherThan(ctx) }),
    ),
  'reject-payout': async (ctx) =>
    ofPayout(await ctx.clients.operator.call('RejectPayout', payout(ctx))),
  'resolve-payout': async (ctx) => {
    const request = { ...payout(ctx), ...outcome(ctx), ...evidence(ctx) }
    return ofPayout(await ctx.clients.operator.call('ResolvePayout', request))
  },
  'reverse-payout': async (ctx) => {
    const request = { ...payout(ctx), ...evidence(ctx) }
    return ofPayout(await ctx.clients.operator.call('ReversePayout', request))
  },
  'approve-intent': async (ctx) => {
    const request = { ...intent(ctx), ...otherThan(ctx) }
    const reviewed = await ctx.clients.recovery.call('ApproveIntent', request)
    return done(`${reviewed.intent_id} is ${reviewed.status}.`)
  },
  'reject-intent': async (ctx) => {
    const reviewed = await ctx.clients.recovery.call('RejectIntent', intent(ctx))
    return done(`${reviewed.intent_id} is ${reviewed.status}.`)
  },
  'resolve-intent': async (ctx) => {
    const request = { ...intent(ctx), ...outcome(ctx), ...evidence(ctx) }
    const resolved = await ctx.clients.operator.call('ResolveIntent', request)
    return done(`${resolved.intent_id} is ${resolved.status}.`)
  },
  'reverse-intent': async (ctx) => {
    const request = { ...intent(ctx), ...evidence(ctx) }
    const reversed = await ctx.clients.operator.call('ReverseIntent', request)
    return done(`${reversed.intent_id} is ${reversed.status}.`)
  },
  inquire: async (ctx) => {
    const id = ctx.field('id')
    await ctx.clients.operator.call('Inquire', { actor: actorOf(ctx), payment_id: id })
    return done(`The bank is asked about ${id}.`)
  },
  'match-orphan': (ctx) => resolveOrphan(ctx, 'matched'),
  'dismiss-orphan': (ctx) => resolveOrphan(ctx, 'dismissed'),
  'resolve-discrepancy': async (ctx) => {
    const resolved = await ctx.clients.operator.call('ResolveDiscrepancy', {
      ...{ actor: actorOf(ctx), discrepancy_id: ctx.field('id') },
      ...{ settlement: ctx.field('settlement'), ...evidence(ctx) },
    })
    return done(`${resolved.id} is settled: ${resolved.settlement ?? ''}.`)
  },
  'approve-request': async (ctx) => {
    const request = { actor: actorOf(ctx), id: ctx.field('id') }
    const approved = await ctx.clients.approvals.call('Approve', request)
    const { request: decided, key, caller, orphan } = approved
    const notice = done(`${decided?.id}: ${decided?.operation} ${decided?.subject} is made.`)
    if (orphan !== null && ctx.clients.access.shards !== undefined) {
      const left = await dismissElsewhere(ctx.clients.recovery, actorOf(ctx), approved)
      return left.length === 0 ? notice : { tone: 'bad', text: [notice.text, ...left].join('\n') }
    }
    if (key !== null) {
      const issued = issuedNotice(key)
      return { ...issued, text: `${notice.text}\n${issued.text}` }
    }
    return caller?.token === undefined ? notice : { ...notice, secret: caller.token }
  },
  'reject-request': async (ctx) => {
    const request = { actor: actorOf(ctx), id: ctx.field('id') }
    const rejected = await ctx.clients.approvals.call('Reject', request)
    return done(`${rejected.id} is ${rejected.status}.`)
  },
}

async function resolveOrphan(
  ctx: ActionContext,
  resolution: 'matched' | 'dismissed',
): Promise<Notice> {
  const resolved = await ctx.clients.recovery.call('ResolveOrphan', {
    ...{ actor: actorOf(ctx), instruction_id: ctx.field('id'), resolution, ...evidence(ctx) },
    ...(resolution === 'matched' ? { payment_id: ctx.field('payment') } : {}),
  })
  const text = `${resolved.instruction_id} is ${resolved.status}.`
  // Each of several shards can lack the execution.
  const missing = missingShardsIn(resolved)
  if (missing.length === 0) return done(text)
  return { tone: 'bad', text: `${text}\nNOT decided in ${missing.join(', ')}: repeat it there.` }
}

const ofPayout = (changed: {
  readonly id: string
  readonly status: string
  readonly currency: string
  readonly amount: string
}) => {
  const money = formatWireAmount(changed.currency, changed.amount)
  return done(`${changed.id} over ${money} is ${changed.status}.`)
}
