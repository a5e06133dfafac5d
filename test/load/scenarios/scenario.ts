/**
 * What the simulated partners do.
 *
 * Owns: the words between the load loop and a scenario. A journey is one request, or several of
 * which each needs the answer before it, and perhaps reports at the end; a connection is a
 * connection, and has at most one journey under way. Does not own: when a journey begins (pace),
 * bytes and timing (load).
 *
 * - Signing costs more than sending, so what does not depend on an answer is signed before the
 *   window. What depends on one carries a session token and needs no signature.
 * - A scenario judges every answer; an answer it did not expect fails its journey under a code.
 * - A request's buffer belongs to its connection and may be reused for the connection's next
 *   request.
 */
import type { Answer } from '../client/answer_reader.js'

export interface Scenario {
  /** Signs this many journeys ahead, once. */
  prepare(journeys: number): void
  /** After those that were prepared it goes on, signing as it is asked. */
  last(): void
  /** The first request of the next journey; undefined when the supply is used up. */
  begin(connection: number): Buffer | undefined
  /** The answer to the connection's request: what comes next. */
  proceed(connection: number, answer: Answer): Next
  /** A webhook told that this entity has ended: the connection whose journey that completes. */
  hear(entity: string): number | undefined
  /** The connection's journey has ended in another way than by an answer or by reports. */
  abandon(connection: number): void
  /** What was acknowledged so far. */
  acknowledged(): Acknowledged
}

export interface Acknowledged {
  readonly intents: number
  readonly payouts: number
  /** Ids of some of the intents that were created and left alone, to be asked for later. */
  readonly samples: readonly string[]
}

export type Next = Buffer | JourneyEnd | Waiting

export type JourneyEnd =
  { readonly kind: 'completed' } | { readonly kind: 'failed'; readonly code: string }

/** All is answered; the journey ends with a webhook. */
export interface Waiting {
  readonly kind: 'waiting'
}

export const COMPLETED: JourneyEnd = { kind: 'completed' }
export const WAITING: Waiting = { kind: 'waiting' }
export const NOTHING_ACKNOWLEDGED: Acknowledged = { intents: 0, payouts: 0, samples: [] }

/** The service's own error code with the status, e.g. `503 configuration_error`. */
export function unexpected({ status, body }: Answer): JourneyEnd {
  return { kind: 'failed', code: `${status} ${errorCode(body)}`.trim() }
}

function errorCode(body: Buffer): string {
  try {
    const { error } = JSON.parse(body.toString()) as { error?: { code?: unknown } }
    return typeof error?.code === 'string' ? error.code : ''
  } catch {
    return ''
  }
}
