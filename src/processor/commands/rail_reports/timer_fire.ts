/**
 * Fires the timer of an actor.
 *
 * - The actor's own `dueAt` decides. A timer that fires early, late or twice changes nothing.
 * - The review of a payment that its own orphan execution has paid does not end by its timer.
 * - A timer that can only wait for the rail changes nothing without it: the answer says so.
 * - A timer that is due later than any is set was put off while the clock was ahead. It fires now,
 *   and a review begins again.
 */
import { DAY, plus, type Instant } from '../../../base/clock.js'
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

/** No timer is set further ahead: a review takes 30 days at most, and inquiries are daily. */
const PUT_OFF_MS = 366 * DAY

/** Timers that are due after this moment were put off. */
export const lastDueAt = (now: Instant): Instant => plus(now, PUT_OFF_MS)

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
    const isReviewed = live.state === 'authorized' && isHeld(live.context)
    if (isReviewed && reviewGoesOn(ctx, live.context, intentId)) {
      live.context = { ...live.context, dueAt: plus(ctx.now, ctx.rules.reviewTtlMs) }
      stageIntent(ctx, live)
      return DONE
    }
    const before = live.context.dueAt
    advanceIntent(ctx, live, {
      ...{ type: 'timer', at: ctx.now, railUp: mayUseRail && mayUse(ctx, live.context) },
    })
    return isStillDue(live.context, before, ctx.now)
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
    const isReviewed = isUnderReview(live.state, live.context)
    if (isReviewed && reviewGoesOn(ctx, live.context, payoutId)) {
      live.context = { ...live.context, dueAt: plus(ctx.now, ctx.rules.reviewTtlMs) }
      stagePayout(ctx, live)
      return DONE
    }
    const before = live.context.dueAt
    advancePayout(ctx, live, {
      ...{ type: 'timer', at: ctx.now, railUp: mayUseRail && mayUse(ctx, live.context) },
    })
    return isStillDue(live.context, before, ctx.now) ? waitsFor(live.context, null) : DONE
  },
})

interface Timed {
  readonly dueAt: Instant | null
}

const isPutOff = ({ dueAt }: Timed, now: Instant): boolean =>
  dueAt !== null && dueAt > lastDueAt(now)

const isPast = ({ dueAt }: Timed, now: Instant): boolean => dueAt !== null && dueAt <= now

const isDue = (timed: Timed, now: Instant): boolean => isPast(timed, now) || isPutOff(timed, now)

/** What was submitted while the clock was ahead is put off again by each inquiry. */
const isStillDue = (timed: Timed, before: Instant | null, now: Instant): boolean =>
  isPast(timed, now) || (timed.dueAt === before && isPutOff(timed, now))

const reviewGoesOn = (ctx: CommandContext, timed: Timed, id: string): boolean =>
  isPutOff(timed, ctx.now) || ownExecution(ctx, id) !== undefined

/** Null means that the intent has none, or is submitted. */
const submissionDeadline = ({ submittedAt, confirmation }: IntentContext): Instant | null =>
  submittedAt === undefined ? (confirmation?.notAfter ?? null) : null
