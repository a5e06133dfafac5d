/**
 * Gives a caller another token: one whose digest its owner provides, or a new one.
 *
 * - The previous token is accepted for ten more minutes, until the new one is deployed; older ones
 *   end at once. Of an operator the previous token only reads.
 * - Another token of a caller that can pay or read secrets needs a second operator, who must not
 *   learn it; one of the actor's own does not.
 * - In a cluster the answer has the setting for all shards, as of a new caller (caller_create).
 */
import { isTokenDigest, newCallerToken, tokenDigest } from '../../../auth/caller_token.js'
import type { Callers, StoredCaller } from '../../../auth/callers.js'
import { MINUTE, plus, toRfc3339 } from '../../../base/clock.js'
import { invalid } from '../../../base/errors.js'
import { isReadOnly } from '../../cache/memory.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import {
  callerNamed,
  callerView,
  isConfiguredProcess,
  isCredentialInUse,
  stageCaller,
} from '../../changes/callers.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { isGuardedCaller } from '../../changes/second_operator.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import { INVALID_DIGEST } from './caller_create.js'
import { callerSetting } from './caller_setting.js'

const OVERLAP_MS = 10 * MINUTE

const HAS_CERTIFICATE = invalid('/name', 'must be that of a caller with a token, not a certificate')

/** @param given the digest of a token that the owner has made, undefined if a new token is shown */
export function rotateCaller(
  actor: Actor,
  callers: Callers,
  name: string,
  given?: string,
  isShared = false,
): Command {
  return {
    name: 'rotate_caller',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const found = callerNamed(ctx, callers, name)
      if (found === undefined) return refuse('caller_not_found')
      if (found.revokedAt !== null) return refuse('caller_revoked')
      if (isConfiguredProcess(ctx, found)) return refuse('caller_configured')
      if (found.certificate !== null) return HAS_CERTIFICATE
      if (given !== undefined) {
        if (!isTokenDigest(given)) return INVALID_DIGEST
        if (isCredentialInUse(ctx, callers, { digest: given })) return refuse('credential_in_use')
      }
      if (
        isGuardedCaller(found.caller) &&
        name !== actor.name &&
        ctx.rules.secondOperator !== null
      ) {
        if (given === undefined) return refuse('owner_credential_required')
        const refusal = refusalOfOneOperator(ctx, actor, {
          operation: 'rotate_caller',
          arguments: { name, token_sha256: given },
          subject: `${name} sha256:${given}`,
          moved: null,
        })
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      const token = given === undefined ? newCallerToken(found.caller.kind, ctx.random) : undefined
      const digest = given ?? tokenDigest(token!)
      const previousUntil = plus(ctx.now, OVERLAP_MS)
      const rotated: StoredCaller = {
        ...found,
        tokens: [
          ...found.tokens.map((known) =>
            known.endsAt === null
              ? { ...known, endsAt: previousUntil }
              : { ...known, endsAt: known.endsAt < ctx.now ? known.endsAt : ctx.now },
          ),
          { digest, createdAt: ctx.now, endsAt: null },
        ],
      }
      const view = {
        caller: callerView(rotated, callers),
        token,
        previous_until: toRfc3339(previousUntil),
      }
      if (isShared && !isReadOnly(ctx.memory))
        return answer({ ...view, setting: callerSetting('rotate_caller', rotated) })
      stageCaller(ctx, rotated)
      logAction(ctx, actor, 'rotate_caller', name)
      return answer(view)
    },
  }
}
