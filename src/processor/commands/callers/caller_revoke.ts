/** Revokes a caller at once and permanently, and lists callers. */
import type { Callers, StoredCaller } from '../../../auth/callers.js'
import { callerNamed, callerView, isConfiguredProcess, stageCaller } from '../../changes/callers.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'

export function revokeCaller(actor: Actor, callers: Callers, name: string): Command {
  return {
    name: 'revoke_caller',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const found = callerNamed(ctx, callers, name)
      if (found === undefined) return refuse('caller_not_found')
      if (found.revokedAt !== null) return refuse('caller_revoked')
      if (isConfiguredProcess(ctx, found)) return refuse('caller_configured')

      // From here on it must succeed.
      const revoked: StoredCaller = { ...found, revokedAt: ctx.now }
      stageCaller(ctx, revoked)
      logAction(ctx, actor, 'revoke_caller', name)
      return answer(callerView(revoked, callers))
    },
  }
}

export function listCallers(callers: Callers): Command {
  return {
    name: 'list_callers',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const names = new Set([
        ...callers.configured.map(({ caller }) => caller.name),
        ...ctx.memory.callers.keys(),
      ])
      return answer({ data: [...names].sort().map((name) => viewOf(ctx, callers, name)) })
    },
  }
}

function viewOf(ctx: CommandContext, callers: Callers, name: string): object {
  const view = callerView(callerNamed(ctx, callers, name)!, callers)
  if (ctx.memory.callers.has(name)) return view
  return { ...view, configured: true, created_at: undefined }
}
