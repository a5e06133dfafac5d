/**
 * Confirms the bound quote: reserves the money, consumes the session token and submits the payment
 * to the rail.
 *
 * - An intent is confirmed at most once. A replay is the same key again, with the first token or a
 *   re-minted one.
 * - A refused confirmation consumes neither token nor key.
 * - A corridor that was taken from the partner since the creation is refused. What was confirmed
 *   before is paid.
 * - The user's limits and the balance are checked and used in one step, so concurrent confirmations
 *   cannot exceed them.
 * - Refused while no rail can take the payment, so the user learns it before anything is reserved.
 *   While submissions are paused it is confirmed and waits.
 * - Refused while the screening service does not answer, as retryable.
 * - A payment that matches an orphan execution is authorized and held: it is not submitted before
 *   an operator decides.
 */
import { assert } from '../../../base/assert.js'
import { plus, type Instant } from '../../../base/clock.js'
import type { ErrorCode } from '../../../base/errors.js'
import { partsOfTenant, type TenantId } from '../../../base/ids.js'
import { checkLimits, limitKeys } from '../../../limits/usage.js'
import { hasExpired, type Quote } from '../../../quotes/quote.js'
import type { ConfirmIntent__Output as ConfirmIntent } from '../../../../protos/types/causeway/internal/v1/ConfirmIntent.js'
import type { IntentContext } from '../../../../actors/intent/context.js'
import { authorizedView } from '../../../../actors/intent/view.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import { canPostIntent } from '../../changes/books.js'
import { hasCorridor } from '../../changes/directory.js'
import { railForNew, routeOf } from '../../changes/payment_rail.js'
import { isPaused } from '../../changes/submission_pauses.js'
import { questionOnIntent, screeningId, verdictOn } from '../../changes/screening.js'
import { holdFor, orphanOfIntent } from '../../changes/orphans.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import type { LiveIntent } from '../../cache/memory.js'
import { idempotencyRowKey } from '../../keys/vault.js'
import { needIntentAndUsage, needUserLimits, usedBy } from './intent_needs.js'

export function confirmIntent(tenant: TenantId, request: ConfirmIntent, at: Instant): Command {
  const { intent_id: intentId, session_jti: jti } = request
  const key =
    request.idempotency_key === undefined || request.idempotency_key === null
      ? undefined
      : idempotencyRowKey(tenant, `confirm ${intentId}`, request.idempotency_key)

  const screeningIdOf = (ctx: CommandContext, { id, version }: Quote): string =>
    screeningId(ctx, [intentId, key ?? jti, id, String(version)])

  return {
    name: 'confirm_intent',

    screened: {
      ...{ purpose: 'qr_payment', order: intentId },
      request: (ctx) => {
        const live = ctx.memory.intents.get(intentId)
        if (live?.context.tenant !== tenant) return null
        const { context } = live
        const { confirmation, scanned } = context
        if (confirmation !== undefined || scanned === undefined) return null
        if (refusalOf(ctx, live, request) !== null) return null
        return questionOnIntent(ctx, screeningIdOf(ctx, scanned.quote), context, scanned)
      },
    },

    needs: (needs, memory) => {
      needIntentAndUsage(needs, memory, intentId)
      const live = memory.intents.get(intentId)
      if (live) needUserLimits(needs, live.context, at)
    },

    decide: (ctx) => {
      const live = ctx.memory.intents.get(intentId)
      if (!live || live.context.tenant !== tenant) return refuse('authentication_failed')
      const { confirmation } = live.context
      if (confirmation !== undefined) {
        if (key !== undefined && confirmation.key === key) {
          return replay(authorizedView(live.context))
        }
        return refuse(confirmation.jti === jti ? 'authentication_failed' : 'already_confirmed')
      }

      const refusal = refusalOf(ctx, live, request)
      if (refusal !== null) return refuse(refusal)

      const { context } = live
      const quote = context.scanned?.quote
      assert(quote !== undefined, 'what can be confirmed has a quote')
      const verdict = verdictOn(ctx, () => screeningIdOf(ctx, quote))
      if (verdict === 'not_asked' || verdict === 'unavailable') return refuse('configuration_error')
      if (verdict !== 'pass' && verdict !== 'not_configured') return refuse(verdict)
      const route = routeOf(context)
      const rail = railForNew(ctx, route)
      if (rail === null) return refuse('configuration_error')
      const orphan = orphanOfIntent(ctx, context)

      // From here on it must succeed.
      const keys = limitKeys(context.tenant, context.userId, context.corridor, ctx.now)
      advanceIntent(ctx, live, {
        type: 'confirm',
        at: ctx.now,
        railUp: ctx.rails.up(rail) && !isPaused(ctx.memory, rail, route),
        ...(orphan === undefined ? {} : { heldFor: holdFor(ctx, orphan) }),
        confirmation: {
          jti,
          ...(key === undefined ? {} : { key }),
          dayKey: keys.day,
          monthKey: keys.month,
          notAfter: plus(ctx.now, ctx.rules.railSubmitTtlMs),
          rail,
        },
      })
      return answer(authorizedView(live.context))
    },
  }
}

/** The first reason for which the intent cannot be confirmed; null when it can. */
function refusalOf(
  ctx: CommandContext,
  live: LiveIntent,
  request: ConfirmIntent,
): ErrorCode | null {
  const { memory, now } = ctx
  const { context } = live
  const partner = memory.partners.get(partsOfTenant(context.tenant).partner)
  if (partner === undefined || partner.suspended) return 'partner_suspended'
  if (live.state !== 'created' || now >= context.expiresAt) return 'payment_intent_not_confirmable'
  if (!hasCorridor(memory, context.tenant, context.corridor)) return 'corridor_not_enabled'
  const { scanned } = context
  if (scanned === undefined) return 'quote_required'
  if (!isBoundQuote(request, context)) return 'quote_changed'
  const { quote } = scanned
  if (hasExpired(quote.expiresAt, ctx.rules.quoteTtlMs, now)) return 'quote_expired'
  if (
    !quote.acknowledgedDuplicate &&
    memory.recentPayments.has(context, scanned.duplicateKey, now)
  ) {
    return 'duplicate_scan'
  }
  const caps = ctx.rules.caps[context.corridor]
  const limit = checkLimits(caps, usedBy(ctx, context), BigInt(quote.localMinor))
  if (limit !== 'within') return 'user_limit_exceeded'
  return canPostIntent(ctx, context, 'intent_confirmed') ? null : 'insufficient_balance'
}

/** Whether the quote that the client names, if any, is the bound one. */
function isBoundQuote(request: ConfirmIntent, { scanned }: IntentContext): boolean {
  const { quote_id: id, quote_version: version } = request
  if (id !== undefined && id !== null && id !== scanned?.quote.id) return false
  return version === undefined || version === null || version === scanned?.quote.version
}
