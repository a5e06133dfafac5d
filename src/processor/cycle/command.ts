/**
 * A command: a request from any source, in the form that the pipeline processes.
 *
 * - `needs` names the rows to load. It is called again after each load, when more is in memory,
 *   until it names nothing new.
 * - `decide` is synchronous and reads nothing but its context: same context, same result.
 * - `decide` either refuses and changes nothing, or, past its last refusal, succeeds. The refusal
 *   that requests a second operator's approval stores its request and nothing else.
 */
import type { Instant } from '../../base/clock.js'
import type { ScreenRequest } from '../../../protos/types/causeway/screening/v1/ScreenRequest.js'
import type { Rejection } from '../../screening/screening.js'
import type { KeyId, TenantId } from '../../base/ids.js'
import type { Random } from '../../base/random.js'
import type { Traceparent } from '../../base/traceparent.js'
import type { Answer, Reply } from './answer.js'
import type { CommitBatch } from './commit_batch.js'
import type { Memory } from '../cache/memory.js'
import type { Cause, Origin } from './origin.js'
import type { Needs } from './needs.js'
import type { Rules } from './rules.js'
import type { Vault } from '../keys/vault.js'

export type { ScreenRequest }

/** The links to the rails, by name. */
export interface RailStates {
  up(rail: string): boolean
  /** Milliseconds since the rail became unreachable; 0 while it is up. */
  downForMs(rail: string): number
}

/** What a screening service has said. `unavailable`: it was asked and has not answered. */
export type Verdict = 'pass' | Rejection | 'unavailable'

export interface Screening {
  /** The id of the question. */
  readonly id: string
  readonly verdict: Verdict
}

/** How a command is screened (cycle/screened_pipeline). */
export interface Screened {
  readonly purpose: 'payout' | 'qr_payment'
  /** Requests with the same text are screened and decided one after the other. */
  readonly order: string
  /** The question; null if the command decides without an answer. Changes nothing. */
  request(ctx: CommandContext): ScreenRequest | null
}

/** The inputs of a decision, and the batch that collects its changes. */
export interface CommandContext {
  readonly origin: Origin
  readonly now: Instant
  readonly random: Random
  readonly rails: RailStates
  readonly memory: Memory
  readonly batch: CommitBatch
  readonly vault: Vault
  readonly rules: Rules
  /**
   * Null means that the service was not asked about this command. Undefined means that there is no
   * screening service.
   */
  readonly screening?: Screening | null | undefined
  /**
   * Moves the origin into the trace of a payment that the command changes. Absent means that there
   * are no traces.
   */
  readonly joinTrace?: (stored: Traceparent) => void
}

export interface Command {
  /** For logs and metrics. */
  readonly name: string
  /**
   * True for reads, for the calls that end recovery mode, and for the settings that must be right
   * before it ends; other commands are refused in it.
   */
  readonly allowedInRecovery?: boolean
  /** Absent means that the command is not screened. */
  readonly screened?: Screened
  needs(needs: Needs, memory: Memory): void
  decide(ctx: CommandContext): Answer
}

/**
 * The fair queue of a command: its tenant's, or `internal` (timers, rail reports, operators,
 * delivery outcomes). Internal commands are never refused for a full queue: their
 * sources are bounded and would retry.
 */
export type QueueKey = TenantId | 'internal'

/** For a command that changes nothing itself but is followed by a change outside the pipeline. */
export const refusedInRecovery = (command: Command): Command => ({
  ...command,
  allowedInRecovery: false,
})

/** The signature of a request, which its gateway has verified. */
export interface SignedBy {
  readonly keyId: KeyId
  readonly nonce: Buffer
  /** Null means that it is a gateway of an older version. */
  readonly signedAt: Instant | null
}

/** A submitted command with its deadline, its reply callback and the signature to consume. */
export interface Work {
  readonly queueKey: QueueKey
  readonly command: Command
  readonly origin: Origin
  /** After this instant the command is dropped undecided. Null if it never is. */
  readonly deadline: Instant | null
  readonly signedBy: SignedBy | null
  readonly reply: Reply
  /** Set before it is submitted, if there is a screening service: see CommandContext. */
  screening?: Screening | null
  /** Set by the pipeline when it is submitted; in milliseconds of its meter. */
  queuedAt?: number
  /**
   * Null means that it is of a gateway. Set by the pipeline when the command joins a payment's
   * trace and its request has none.
   */
  gatewaySpan?: GatewaySpan | null
}

/** The gateway's span in the trace of a payment. */
export interface GatewaySpan {
  readonly traceparent: Traceparent
  readonly parent: Traceparent
}

/** An internal command: no deadline, no signature. */
export const internalWork = (
  command: Command,
  cause: Cause,
  reply: Reply = () => undefined,
): Work => ({
  queueKey: 'internal',
  command,
  origin: { cause, requestId: null },
  deadline: null,
  signedBy: null,
  reply,
})
