/**
 * Issues another token to a caller.
 *
 * - The previous token is accepted for ten more minutes, until the new one is deployed; older ones
 *   end at once.
 * - A new token for another operator with the role `decide` needs a second operator; a new token of
 *   the actor's own does not.
 */
import { newCallerToken, tokenDigest } from '../../../auth/caller_token.js'
import type { Callers, StoredCaller } from '../../../auth/callers.js'
import { MINUTE, plus, toRfc3339 } from '../../../base/clock.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { callerNamed, callerView, isConfiguredProcess, stageCaller } from '../../changes/callers.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

const OVERLAP_MS = 10 * MINUTE

export function rotateCaller(actor: Actor, callers: Callers, name: string): Command {
  return {
    name: 'rotate_caller',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const found = callerNamed(ctx, callers, name)
      if (found === undefined) return refuse('caller_not_found')
      if (found.revokedAt !== null) return refuse('caller_revoked')
      if (isConfiguredProcess(ctx, found)) return refuse('caller_configured')
      if (found.certificate !== null) return refuse('invalid_request')
      if (found.caller.roles.includes('decide') && name !== actor.name) {
        const refusal = refusalOfOneOperator(ctx, actor, {
          operation: 'rotate_caller',
          arguments: { name },
          subject: name,
          funds: null,
        })
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      const token = newCallerToken(found.caller.kind, ctx.random)
      const previousUntil = plus(ctx.now, OVERLAP_MS)
      const rotated: StoredCaller = {
        ...found,
        tokens: [
          ...found.tokens.map((known) =>
            known.endsAt === null
              ? { ...known, endsAt: previousUntil }
              : { ...known, endsAt: known.endsAt < ctx.now ? known.endsAt : ctx.now },
          ),
          { digest: tokenDigest(token), createdAt: ctx.now, endsAt: null },
        ],
      }
      stageCaller(ctx, rotated)
      logAction(ctx, actor, 'rotate_caller', name)
      return answer({
        caller: callerView(rotated, callers),
        token,
        previous_until: toRfc3339(previousUntil),
      })
    },
  }
}
