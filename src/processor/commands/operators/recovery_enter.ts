/**
 * Enters recovery mode: the processor serves only reads, also after a restart, until an operator
 * releases it.
 */
import { logAction } from '../../changes/operator_log.js'
import { answer } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

const PROCESSOR = 'processor'

export function enterRecovery(cause: string): Command {
  return {
    name: 'enter_recovery',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { memory, batch } = ctx
      if (memory.recovery !== null) return answer({})

      // From here on it must succeed.
      memory.lastRecovery += 1
      const row = {
        number: memory.lastRecovery,
        entered_at: ctx.now,
        cause,
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
