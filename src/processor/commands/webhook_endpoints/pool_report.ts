/**
 * A report of a webhook pool as a command.
 *
 * - For a while after a partner has left, reports are refused: they can be about its events, which
 *   these books no longer have. A pool repeats a report at the processor that has the tenant then.
 */
import { plus } from '../../../base/clock.js'
import { ANSWER_WITHIN_MS } from '../../../base/constants.js'
import { refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

/** No call of a pool lasts longer, and it knows by then that the partner has left. */
export const LEFT_WITHIN_MS = ANSWER_WITHIN_MS

export const poolReport = (command: Command): Command => ({
  ...command,
  decide: (ctx) =>
    ctx.memory.lastDepartureAt > plus(ctx.now, -LEFT_WITHIN_MS)
      ? refuse('configuration_error')
      : command.decide(ctx),
})
