/**
 * What the simulated partners do.
 *
 * Owns: the words between the load loop and a scenario. A journey is one request, or several of
 * which each needs the answer before it; a lane is a connection, and has at most one journey under
 * way. Does not own: when a journey begins (pace), bytes and timing (load).
 *
 * S1. Signing costs more than sending, so all that does not depend on an answer is signed before
 *     the window.
 * S2. A scenario judges every answer; an answer it did not expect fails its journey under a code.
 * S3. A request's buffer belongs to its lane and may be reused for the lane's next request.
 */
import type { Answer } from './answer_reader.js'

export interface Scenario {
  /** Signs this many journeys ahead, once. */
  prepare(journeys: number): void
  /** The first request of the next journey; undefined when the supply is used up. */
  begin(lane: number): Buffer | undefined
  /** The answer to the lane's request: the journey's next request, or how it ended. */
  proceed(lane: number, answer: Answer): Buffer | JourneyEnd
  /** Ids of some things that were acknowledged, to be asked for later. */
  samples(): readonly string[]
}

export type JourneyEnd =
  { readonly kind: 'completed' } | { readonly kind: 'failed'; readonly code: string }

export const COMPLETED: JourneyEnd = { kind: 'completed' }

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
