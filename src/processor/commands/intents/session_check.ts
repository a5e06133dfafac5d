/**
 * Says whether a session token may still move its intent. The gateway asks before it refuses a
 * malformed scan or confirm: a token that is used up is told first.
 */
import type { TenantId } from '../../../base/ids.js'
import type { CheckSession__Output as CheckSession } from '../../../../protos/types/causeway/v1/CheckSession.js'
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
