/**
 * What all calls of operators have in common.
 *
 * - No change but EnsureDemo without a name and a reason.
 */
import type { Actor__Output as WireActor } from '../../../../protos/types/causeway/v1/Actor.js'
import type { Command } from '../../cycle/command.js'
import type { QueueKey } from '../../cycle/command.js'
import type { Actor } from '../../changes/operator_log.js'

/** A command of our own queue; null: the call is not valid. */
export const ours = (command: Command | null): { queueKey: QueueKey; command: Command } | null =>
  command === null ? null : { queueKey: 'ours', command }

/** The command in the actor's name; null when nobody, or no reason, is named. */
export function by(given: WireActor | null, commandOf: (actor: Actor) => Command): Command | null {
  if (given === null || given.name.trim() === '' || given.reason.trim() === '') return null
  return commandOf({ name: given.name, reason: given.reason })
}
