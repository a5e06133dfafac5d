/**
 * What a gateway asks for, as the processor runs it.
 */
import type { Command } from '../cycle/command.js'
import type { Query } from '../queries/query.js'

export interface Operation {
  /** Goes through the cycle. */
  readonly command: Command
  /** Read after the command is on disk; null: the command's answer is all. */
  readonly query: Query | null
}
