/**
 * The rows that a step of a confirmed intent may touch: itself, and the limits its confirmation
 * used.
 */
import type { Memory } from '../../cache/memory.js'
import type { Needs } from '../../cycle/needs.js'

export function needIntentAndUsage(needs: Needs, memory: Memory, intentId: string): void {
  needs.intent(intentId)
  const confirmation = memory.intents.get(intentId)?.context.confirmation
  if (confirmation === undefined) return
  needs.usage(confirmation.dayKey)
  needs.usage(confirmation.monthKey)
}
