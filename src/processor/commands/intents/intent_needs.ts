/** The rows that commands on intents need: the intent, and the usage counters of its limits. */
import { ANSWER_WITHIN_MS } from '../../../base/constants.js'
import { plus, type Instant } from '../../../base/clock.js'
import { limitKeys, periodsOf } from '../../../limits/usage.js'
import type { IntentContext } from '../../../../actors/intent/context.js'
import type { Memory } from '../../cache/memory.js'
import type { CommandContext } from '../../cycle/command.js'
import type { Needs } from '../../cycle/needs.js'

/** The intent, and the counters that its confirmation used. */
export function needIntentAndUsage(needs: Needs, memory: Memory, intentId: string): void {
  needs.intent(intentId)
  const confirmation = memory.intents.get(intentId)?.context.confirmation
  if (confirmation === undefined) return
  needs.usage(confirmation.dayKey)
  needs.usage(confirmation.monthKey)
}

/** The counters of the user, also those of the next day in case midnight precedes the decision. */
export function needUserLimits(needs: Needs, context: IntentContext, at: Instant): void {
  const { tenant, userId, corridor } = context
  const latest = plus(at, ANSWER_WITHIN_MS)
  const isOneDay = periodsOf(corridor, at).day === periodsOf(corridor, latest).day
  for (const moment of isOneDay ? [at] : [at, latest]) {
    const keys = limitKeys(tenant, userId, corridor, moment)
    needs.usage(keys.day)
    needs.usage(keys.month)
  }
}

/** The amounts that the user has used of the corridor's limits, in the local day and month. */
export function usedBy(
  { memory, now }: CommandContext,
  context: IntentContext,
): { readonly day: bigint; readonly month: bigint } {
  const keys = limitKeys(context.tenant, context.userId, context.corridor, now)
  return { day: memory.usage.get(keys.day) ?? 0n, month: memory.usage.get(keys.month) ?? 0n }
}
