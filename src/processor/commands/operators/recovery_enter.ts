/**
 * Enters recovery mode, which lasts until an operator releases it, also over restarts.
 *
 * - It stops all writes, or only submissions to the rail. One that stops submissions becomes one
 *   that stops writes, never the reverse.
 */
import { logAction } from '../../changes/operator_log.js'
import { answer } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import type { RecoveryStop } from '../../../store/store.js'

const PROCESSOR = 'processor'

export function enterRecovery(cause: string, stops: RecoveryStop = 'writes'): Command {
  return {
    name: 'enter_recovery',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { memory, batch } = ctx
      const { recovery } = memory
      if (recovery !== null && (recovery.stops === 'writes' || stops === 'submissions')) {
        return answer({})
      }

      // From here on it must succeed.
      if (recovery === null) memory.lastRecovery += 1
      const row = {
        number: memory.lastRecovery,
        entered_at: recovery?.entered_at ?? ctx.now,
        cause,
        stops,
        released_at: null,
        statement: null,
        loss: null,
        position_from: null,
        position_to: null,
      }
      memory.recovery = row
      batch.stage('recoveries', String(row.number), row)
      logAction(ctx, { name: PROCESSOR, reason: cause }, 'enter_recovery', `${row.number}`)
      return answer({})
    },
  }
}
