/**
 * What a partner's user has used of a corridor's limits, in the local day and month.
 */
import { ANSWER_WITHIN_MS } from '../../../base/constants.js'
import { plus, type Instant } from '../../../base/clock.js'
import { limitKeys } from '../../../limits/usage.js'
import type { IntentContext } from '../../../../actors/intent/context.js'
import type { CommandContext } from '../../cycle/command.js'
import type { Needs } from '../../cycle/needs.js'

/** Also the keys of the moment a command may be decided at, should midnight fall in between. */
export function needUserLimits(needs: Needs, context: IntentContext, at: Instant): void {
  for (const moment of [at, plus(at, ANSWER_WITHIN_MS)]) {
    const keys = limitKeys(context.tenant, context.userId, context.corridor, moment)
    needs.usage(keys.day)
    needs.usage(keys.month)
  }
}

export function usedBy(
  { memory, now }: CommandContext,
  context: IntentContext,
): { readonly day: bigint; readonly month: bigint } {
  const keys = limitKeys(context.tenant, context.userId, context.corridor, now)
  return { day: memory.usage.get(keys.day) ?? 0n, month: memory.usage.get(keys.month) ?? 0n }
}
