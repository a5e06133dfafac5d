/**
 * The intents of a partner's user, as a chain: each is linked to the one that the same user had
 * before it.
 *
 * Owns: linking a new intent. Does not own: the prints that stand for users (user_fingerprint), the
 * links on disk (store), walking them (store/lists), which user's last intent is where
 * (idempotency_index).
 *
 * - Two users may share a print: whoever walks a chain looks at each intent's own user.
 * - Numbers follow the order of commits, so those of a batch are consecutive.
 */
import type { TenantId } from '../../base/ids.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { CommandContext } from '../cycle/command.js'
import type { Memory } from '../cache/memory.js'

/** Puts a new intent at the end of its user's chain. */
export function linkIntent(
  { memory, batch }: CommandContext,
  { id, tenant, userId }: IntentContext,
): void {
  memory.lastIntentNumber += 1
  const number = memory.lastIntentNumber
  const fingerprint = memory.fingerprintOfUser(tenant, userId)
  const before = memory.userIndex.replace(fingerprint, number) ?? 0
  batch.addIntentLink({ number, id, fingerprint, before })
}

/** The number of the user's last intent; 0: there is none. */
export function lastIntentOf(memory: Memory, tenant: TenantId, userId: string): number {
  const [number] = memory.userIndex.candidates(memory.fingerprintOfUser(tenant, userId))
  return number ?? 0
}
