/**
 * Fires the timer of an actor.
 *
 * - The actor's own `dueAt` decides. A timer that fires early, late or twice changes nothing.
 * - The review of a payment that its own orphan execution has paid does not end by its timer.
 * - A timer that can only wait for the rail changes nothing without it: the answer says so.
 */
import { plus, type Instant } from '../../../base/clock.js'
import type { IntentContext } from '../../../../actors/intent/context.js'
import { isUnderReview, type PayoutContext } from '../../../../actors/payout/context.js'
import type { RouteName } from '../../../rails/rail_table.js'
import { isHeld } from '../../../../actors/hold.js'
import { advanceIntent, stageIntent } from '../../changes/advance_intent.js'
import { advancePayout, stagePayout } from '../../changes/advance_payout.js'
import { ownExecution } from '../../changes/orphans.js'
import { maySubmit, railOf, railUp, routeOf } from '../../changes/payment_rail.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { answer, type Answer } from '../../cycle/answer.js'
import { needIntentAndUsage } from '../intents/intent_needs.js'

/** The view of a timer that can only wait for the rail. */
export interface WaitsForRail {
  readonly rail: string
  /** The route on which it waits to be submitted. Null if it waits for its next inquiry. */
  readonly route: RouteName | null
  /** When it acts without the rail. Null if it never does. */
  readonly waitsUntil: Instant | null
}

const DONE = answer({})
const waitsFor = (context: IntentContext | PayoutContext, waitsUntil: Instant | null): Answer =>
  answer({
    rail: railOf(context),
    route: isSubmitted(context) ? null : routeOf(context),
    waitsUntil,
  } satisfies WaitsForRail)

const isSubmitted = ({ submittedAt }: IntentContext | PayoutContext): boolean =>
  submittedAt !== undefined

/** What is submitted is inquired about while submissions are paused. */
const mayUse = (ctx: CommandContext, context: IntentContext | PayoutContext): boolean =>
  isSubmitted(context) ? railUp(ctx, context) : maySubmit(ctx, context)

export const isWaitingForRail = (view: object): view is WaitsForRail => 'waitsUntil' in view

export type FireTimer = (id: string, mayUseRail?: boolean) => Command

export const fireIntentTimer: FireTimer = (intentId, mayUseRail = true) => ({
  name: 'intent_timer_fire',
  needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
  decide: (ctx) => {
    const live = ctx.memory.intents.get(intentId)
    if (!live || !isDue(live.context, ctx.now)) return DONE
    if (live.state === 'authorized' && isHeld(live.context) && ownExecution(ctx, intentId)) {
      live.context = { ...live.context, dueAt: plus(ctx.now, ctx.rules.reviewTtlMs) }
      stageIntent(ctx, live)
      return DONE
    }
    advanceIntent(ctx, live, {
      ...{ type: 'timer', at: ctx.now, railUp: mayUseRail && mayUse(ctx, live.context) },
    })
    return isDue(live.context, ctx.now)
      ? waitsFor(live.context, submissionDeadline(live.context))
      : DONE
  },
})

export const firePayoutTimer: FireTimer = (payoutId, mayUseRail = true) => ({
  name: 'payout_timer_fire',
  needs: (needs) => needs.payout(payoutId),
  decide: (ctx) => {
    const live = ctx.memory.payouts.get(payoutId)
    if (!live || !isDue(live.context, ctx.now)) return DONE
    if (isUnderReview(live.state, live.context) && ownExecution(ctx, payoutId)) {
      live.context = { ...live.context, dueAt: plus(ctx.now, ctx.rules.reviewTtlMs) }
      stagePayout(ctx, live)
      return DONE
    }
    advancePayout(ctx, live, {
      ...{ type: 'timer', at: ctx.now, railUp: mayUseRail && mayUse(ctx, live.context) },
    })
    return isDue(live.context, ctx.now) ? waitsFor(live.context, null) : DONE
  },
})

const isDue = ({ dueAt }: { readonly dueAt: Instant | null }, now: Instant): boolean =>
  dueAt !== null && dueAt <= now

/** Null: the intent has none, or is submitted. */
const submissionDeadline = ({ submittedAt, confirmation }: IntentContext): Instant | null =>
  submittedAt === undefined ? (confirmation?.notAfter ?? null) : null
