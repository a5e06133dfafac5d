/**
 * Requests that a partner's user is erased, and the steps that do it (background/user_erasures).
 *
 * - The user is named by a payment: neither the approval request nor the log names the user.
 * - From the request on the user's list of payments is the list of the request; a later payment of
 *   the user begins a list, and is not erased.
 * - A step can be repeated: it leaves alone what is erased.
 */
import { newId, type TenantId } from '../../../base/ids.js'
import type { UserFingerprints } from '../../../store/retention.js'
import { rememberErasure, type LiveIntent, type Memory } from '../../cache/memory.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import {
  countersOf,
  erasureView,
  eraseUserOf,
  mustWait,
  stageErasure,
  type UserErasure,
} from '../../changes/user_erasures.js'
import { lastIntentOf } from '../../changes/user_intent_links.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

/** @param intentId a payment of the user */
export function eraseUser(actor: Actor, tenant: TenantId, intentId: string): Command {
  return {
    name: 'erase_user',
    needs: (needs) => needs.intent(intentId),
    decide: (ctx) => {
      const { memory, now, random } = ctx
      const live = memory.intents.get(intentId)
      if (!live || live.context.tenant !== tenant) return refuse('payment_intent_not_found')
      const { userId } = live.context
      const last = lastIntentOf(memory, tenant, userId)
      if (last === 0) return refuse('payment_intent_not_found')
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'erase_user',
        arguments: { tenant, intent_id: intentId },
        subject: `${tenant} ${intentId}`,
        moved: null,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      const erasure: UserErasure = {
        id: newId('erasure', now, random),
        tenant,
        user_id: userId,
        last_intent: last,
        payments: 0,
        waiting: null,
        requested_at: now,
        ended_at: null,
      }
      stageErasure(ctx, erasure)
      rememberErasure(memory, erasure)
      logAction(ctx, actor, 'erase_user', `${tenant} ${erasure.id}`)
      return answer(erasureView(erasure))
    },
  }
}

export interface ErasureStep {
  readonly intents: readonly string[]
  /** With the fingerprints of these intents replaced. */
  readonly userFingerprints: readonly UserFingerprints[]
}

/** Erases the user of these payments. Refused if one of them must wait after all. */
export function eraseUserStep(id: string, { intents, userFingerprints }: ErasureStep): Command {
  const ofUser = (memory: Memory, { user_id: userId }: UserErasure): LiveIntent[] =>
    intents.flatMap((intent) => {
      const live = memory.intents.get(intent)
      return live?.context.userId === userId ? [live] : []
    })
  return {
    name: 'erase_user_step',
    needs: (needs, memory) => {
      const erasure = memory.userErasures.get(id)
      if (erasure === undefined) return
      for (const intent of intents) needs.intent(intent)
      for (const { context } of ofUser(memory, erasure)) {
        for (const key of countersOf(context, id).flat()) needs.usage(key)
      }
    },
    decide: (ctx) => {
      const { memory, batch, now } = ctx
      const erasure = memory.userErasures.get(id)
      if (erasure === undefined) return refuse('invalid_request')
      const found = ofUser(memory, erasure)
      if (found.some(({ state, context }) => mustWait(state, context, now))) {
        return refuse('invalid_request')
      }

      // From here on it must succeed.
      for (const live of found) eraseUserOf(ctx, live, id)
      batch.expire({ userFingerprints })
      stageErasure(ctx, { ...erasure, payments: erasure.payments + found.length })
      return answer({})
    },
  }
}

/** All payments were looked at: the erasure ends if none of them waits. */
export function endErasurePass(id: string, waiting: number): Command {
  return {
    name: 'end_erasure_pass',
    needs: () => undefined,
    decide: (ctx) => {
      const erasure = ctx.memory.userErasures.get(id)
      if (erasure === undefined) return refuse('invalid_request')

      // From here on it must succeed.
      const isEnded = waiting === 0
      if (isEnded) stageErasure(ctx, { ...erasure, waiting, user_id: '', ended_at: ctx.now })
      else if (waiting !== erasure.waiting) stageErasure(ctx, { ...erasure, waiting })
      return answer({})
    },
  }
}
