/**
 * Adds an entry to the operators' log for an action that changes nothing here, such as a
 * reconciliation.
 */
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'
import { INVALID_EVIDENCE, isEvidence, logAction, type Actor } from '../../changes/operator_log.js'

export interface NotedAction {
  readonly action: string
  readonly subject: string
  readonly evidence?: string
}

export function noteAction(actor: Actor, { action, subject, evidence }: NotedAction): Command {
  return {
    name: 'note_action',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      if (evidence !== undefined && !isEvidence(evidence)) return INVALID_EVIDENCE

      // From here on it must succeed.
      logAction(ctx, actor, action, subject, evidence ?? null)
      return answer({})
    },
  }
}
