/**
 * Requests the recall of a captured payment. A push payment cannot be pulled back: the intent stays
 * captured until the rail reports the money back. After a refused recall it can be requested again.
 *
 * - The same key again replays the first answer; while a recall is in progress another key is
 *   refused.
 */
import type { TenantId } from '../../../base/ids.js'
import { intentTransitions } from '../../../../actors/intent/machine.js'
import { intentView } from '../../../../actors/intent/view.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import { idempotencyRowKey } from '../../keys/vault.js'
import { needIntentAndUsage } from './intent_needs.js'

export function refundIntent(
  tenant: TenantId,
  intentId: string,
  idempotencyKey: string | null,
): Command {
  const rowKey =
    idempotencyKey === null ? null : idempotencyRowKey(tenant, 'refund_intent', idempotencyKey)
  return {
    name: 'refund_intent',
    needs: (needs, memory) => {
      needIntentAndUsage(needs, memory, intentId)
      if (rowKey !== null) needs.idempotency(rowKey)
    },
    decide: (ctx) => {
      const { memory } = ctx
      const live = memory.intents.get(intentId)
      if (!live || live.context.tenant !== tenant) return refuse('payment_intent_not_found')
      const known = rowKey === null ? null : boundRow(memory, rowKey)
      if (known) {
        if (known.entity !== intentId) return refuse('idempotency_conflict')
        return replay(JSON.parse(known.response ?? '') as object)
      }
      const event = { type: 'recall', at: ctx.now } as const
      if (intentTransitions.step(live.state, live.context, event) === null) {
        return refuse('payment_intent_not_refundable')
      }

      // From here on it must succeed.
      advanceIntent(ctx, live, event)
      const view = intentView(live.state, live.context)
      if (rowKey !== null) {
        const response = JSON.stringify(view)
        bindKey(ctx, rowKey, { requestHash: intentId, entity: intentId, response })
      }
      return answer(view)
    },
  }
}
