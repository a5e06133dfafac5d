/**
 * The intents of a partner's user, as a chain: each is linked to the one that the same user had
 * before it.
 *
 * Owns: linking a new intent. Does not own: the prints that stand for users (user_print), the links
 * on disk (store), walking them (store/lists), which user's last intent is where (key_index).
 *
 * U1. Two users may share a print: whoever walks a chain looks at each intent's own user.
 * U2. Numbers follow the order of commits, so those of a group are consecutive.
 */
import type { TenantId } from '../../base/ids.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { Desk } from '../cycle/command.js'
import type { Memory } from '../memory/memory.js'

/** Puts a new intent at the end of its user's chain. */
export function linkIntent({ memory, group }: Desk, { id, tenant, userId }: IntentContext): void {
  memory.lastIntentNumber += 1
  const number = memory.lastIntentNumber
  const print = memory.printOfUser(tenant, userId)
  const before = memory.userIndex.exchange(print, number) ?? 0
  group.addIntentLink({ number, id, print, before })
}

/** The number of the user's last intent; 0: there is none. */
export function lastIntentOf(memory: Memory, tenant: TenantId, userId: string): number {
  const [number] = memory.userIndex.candidates(memory.printOfUser(tenant, userId))
  return number ?? 0
}
