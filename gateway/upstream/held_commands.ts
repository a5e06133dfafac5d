/**
 * Commands that are held until a processor can take them, in order of arrival.
 *
 * Does not own: how long they are held (callers).
 *
 * - The time budget of a held command continues to run: the remaining budget is sent, and a command
 *   without one settles as `timeout`.
 */
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import type { Clock, Instant } from '../../src/base/clock.js'
import type { Logger } from '../../src/base/log.js'
import type { PendingCommand } from './pending_command.js'

/** @param bodyBytes size of the request body; the command's text fields are no larger */
export type Submit = (command: Command, pending: PendingCommand, bodyBytes?: number) => void

export interface HeldCommands {
  readonly size: number
  add(command: Command, pending: PendingCommand, bodyBytes: number): void
  /** Empties the list first: what cannot be sent yet may be held again. */
  releaseTo(submit: Submit): void
  /** Settles all as `configuration_error`. */
  refuse(): void
}

interface HeldCommand {
  readonly command: Command
  readonly pending: PendingCommand
  readonly bodyBytes: number
  readonly since: Instant
}

export function createHeldCommands(clock: Clock, log: Logger): HeldCommands {
  let held: HeldCommand[] = []

  const takeAll = (): readonly HeldCommand[] => {
    const taken = held
    held = []
    return taken
  }

  return {
    get size() {
      return held.length
    },
    add: (command, pending, bodyBytes) => {
      held.push({ command, pending, bodyBytes, since: clock.now() })
    },
    releaseTo: (submit) => {
      const now = clock.now()
      for (const { command, pending, bodyBytes, since } of takeAll()) {
        command.budget_ms = (command.budget_ms ?? 0) - (now - since)
        if (command.budget_ms > 0) submit(command, pending, bodyBytes)
        else settleSafely(log, pending, 'timeout', '', false)
      }
    },
    refuse: () => {
      for (const { pending } of takeAll()) {
        settleSafely(log, pending, 'configuration_error', '', false)
      }
    },
  }
}

/** A callback that throws does not affect the other commands of its batch. */
export function settleSafely(
  log: Logger,
  pending: PendingCommand,
  ...reply: Parameters<PendingCommand['settle']>
): void {
  try {
    pending.settle(...reply)
  } catch (error) {
    log.error({ error }, 'reply handler threw')
  }
}
