/**
 * The chain of a user's intents: each intent is linked to the user's previous one.
 *
 * Owns: linking a new intent. Does not own: user fingerprints (cache/user_fingerprint), the links
 * on disk (store), following a chain (store/lists), the last intent of each user
 * (cache/idempotency_index).
 *
 * - Two users may share a fingerprint: a reader of a chain checks the user of each intent.
 * - Numbers follow the order of commits, so those of a batch are consecutive.
 */
import type { TenantId } from '../../base/ids.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { CommandContext } from '../cycle/command.js'
import type { Memory } from '../cache/memory.js'

/** Appends a new intent to its user's chain. */
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

/** The number of the user's last intent. 0 means none. */
export function lastIntentOf(memory: Memory, tenant: TenantId, userId: string): number {
  const [number] = memory.userIndex.candidates(memory.fingerprintOfUser(tenant, userId))
  return number ?? 0
}
