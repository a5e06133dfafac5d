/**
 * Finds the last intent of a user, where the list of the user's intents begins. It is a command, so
 * its answer follows the commit of that intent.
 */
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'
import { lastIntentOf } from '../../changes/user_intent_links.js'

export interface FoundIntents {
  /** The number of the last intent. 0 means none. */
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
