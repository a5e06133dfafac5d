/**
 * Checks whether a session token may still be used. The gateway calls it before it refuses a
 * malformed scan or confirm, because a consumed token is reported first.
 */
import type { TenantId } from '../../../base/ids.js'
import type { CheckSession__Output as CheckSession } from '../../../../protos/types/causeway/internal/v1/CheckSession.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'

export function checkSession(tenant: TenantId, request: CheckSession): Command {
  return {
    name: 'check_session',
    needs: (needs) => needs.intent(request.intent_id),
    decide: ({ memory }) => {
      const live = memory.intents.get(request.intent_id)
      if (!live || live.context.tenant !== tenant) return refuse('authentication_failed')
      const isConsumed = live.context.confirmation?.jti === request.session_jti
      return isConsumed ? refuse('authentication_failed') : answer({})
    },
  }
}
