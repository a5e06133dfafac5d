/**
 * A command: what any caller wants done, in the one form the cycle takes.
 *
 * - `needs` names rows; it may be asked again after a load, when it can see more, until it names
 *   nothing new.
 * - `decide` is synchronous and reads nothing but its context: same context, same result.
 * - `decide` either changes nothing and refuses, or, past its last refusal, succeeds.
 */
import type { Instant } from '../../base/clock.js'
import type { KeyId, TenantId } from '../../base/ids.js'
import type { Random } from '../../base/random.js'
import type { Answer, Reply } from './answer.js'
import type { CommitBatch } from './commit_batch.js'
import type { Memory } from '../cache/memory.js'
import type { Needs } from './needs.js'
import type { Rules } from './rules.js'
import type { Vault } from '../keys/vault.js'

/** All that a decision may look at, and the batch that takes its changes. */
export interface CommandContext {
  readonly now: Instant
  readonly random: Random
  readonly railUp: boolean
  /** How long the rail has been out of reach, milliseconds; 0 while it is up. */
  readonly railDownForMs: number
  readonly memory: Memory
  readonly batch: CommitBatch
  readonly vault: Vault
  readonly rules: Rules
}

export interface Command {
  /** For logs and metrics. */
  readonly name: string
  /** A read, or what ends the recovery; all else is refused undecided while it lasts. */
  readonly allowedInRecovery?: boolean
  needs(needs: Needs, memory: Memory): void
  decide(ctx: CommandContext): Answer
}

/**
 * Whose turn a command takes: its tenant's, or that of our own commands (timers, rail reports,
 * operators, outcomes). Ours are never refused for a full queue: their sources are bounded, and
 * would send them again.
 */
export type QueueKey = TenantId | 'ours'

/** A command whose answer only lets a change begin elsewhere. */
export const refusedInRecovery = (command: Command): Command => ({
  ...command,
  allowedInRecovery: false,
})

/** A command on its way: who waits for it, until when, and how the caller proved who it is. */
export interface Work {
  readonly queueKey: QueueKey
  readonly command: Command
  /** Dropped undecided after this; null: never. */
  readonly deadline: Instant | null
  readonly signedBy: { readonly keyId: KeyId; readonly nonce: Buffer } | null
  readonly reply: Reply
}
