/** Reads an intent. An intent of another tenant is not found. */
import type { TenantId } from '../../../base/ids.js'
import { intentView } from '../../../../actors/intent/view.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'

export function getIntent(tenant: TenantId, intentId: string): Command {
  return {
    name: 'get_intent',
    allowedInRecovery: true,
    needs: (needs) => needs.intent(intentId),
    decide: ({ memory }) => {
      const live = memory.intents.get(intentId)
      if (!live || live.context.tenant !== tenant) return refuse('payment_intent_not_found')
      return answer(intentView(live.state, live.context))
    },
  }
}
