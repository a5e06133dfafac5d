/**
 * Where the list of a user's intents begins. Decided in the cycle, so that it is answered when the
 * intent it names is on disk.
 */
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'
import { lastIntentOf } from '../../changes/user_intent_links.js'

export interface FoundIntents {
  /** The number of the last one; 0: there is none. */
  readonly last: number
}

export function findUserIntents(tenant: TenantId, userId: string): Command {
  return {
    name: 'find_user_intents',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory }) => {
      const found: FoundIntents = { last: lastIntentOf(memory, tenant, userId) }
      return answer(found)
    },
  }
}
