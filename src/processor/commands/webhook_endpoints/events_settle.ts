/**
 * Settles events whose deliveries the webhook pool has recorded. Settling twice changes nothing.
 */
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'

export function settleEvents(ids: readonly string[]): Command {
  return {
    name: 'settle_events',
    needs: () => undefined,
    decide: ({ batch }) => {
      for (const id of ids) batch.settledEvents.push(id)
      return answer({})
    },
  }
}
