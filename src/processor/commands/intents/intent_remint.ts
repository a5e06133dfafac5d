/**
 * Mints another session token for an intent that has not ended. Older tokens stay valid until they
 * expire.
 *
 * - Scan, quote and confirmation do not change. The intent keeps the attestations as evidence.
 * - A suspended partner gets tokens only for confirmed intents, for which its app can still poll.
 */
import { mintSessionToken } from '../../../auth/token.js'
import { newTokenId } from '../../../auth/secret_generation.js'
import { plus, toEpochSeconds } from '../../../base/clock.js'
import type { TenantId } from '../../../base/ids.js'
import type { RemintSession__Output as RemintSession } from '../../../../protos/types/causeway/v1/RemintSession.js'
import type { Command } from '../../cycle/command.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import { isSuspended } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'
import { attestationsOf, refusalOf } from './attestations.js'

export function remintSession(tenant: TenantId, request: RemintSession): Command {
  return {
    name: 'remint_session',
    needs: (needs) => needs.intent(request.intent_id),
    decide: (ctx) => {
      const { memory, vault, random, rules, now } = ctx
      const live = memory.intents.get(request.intent_id)
      if (!live || live.context.tenant !== tenant) return refuse('payment_intent_not_found')
      const { id, userId, expiresAt } = live.context
      if (request.partner_user_id !== userId) return refuse('user_mismatch')
      const unattested = refusalOf(request)
      if (unattested !== null) return refuse(unattested)
      const isOpen = live.state === 'authorized' || (live.state === 'created' && now < expiresAt)
      if (!isOpen) return refuse('payment_intent_terminal')
      if (live.state === 'created' && isSuspended(memory, tenant)) {
        return refuse('partner_suspended')
      }

      // From here on it must succeed.
      const jti = newTokenId(random)
      const remint = { at: now, jti, attestations: attestationsOf(request) }
      advanceIntent(ctx, live, { type: 'remint', at: now, remint })
      const exp = toEpochSeconds(plus(now, rules.sessionTtlMs))
      const token = mintSessionToken(vault.tokenKeys, vault.tokenKeys.current, {
        intentId: id,
        tenant,
        jti,
        expiresAt: exp,
      })
      return answer({ intent_id: id, session_token: token, session_expires_at: exp })
    },
  }
}
