/**
 * Time as a type.
 *
 * Owns: the only reading of the machine's clock, instants, and their one text form.
 * Does not own: timers (processor/background/timers) or any policy about durations (base/constants,
 * base/settings).
 *
 * - An Instant is whole epoch milliseconds. Nothing else in the code is called a time.
 */

/** Epoch milliseconds, UTC. */
export type Instant = number & { readonly __brand: 'Instant' }

export interface Clock {
  now(): Instant
}

export const systemClock: Clock = { now: () => Date.now() as Instant }

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The one door in for a number that is known to be epoch milliseconds (a stored row, a test). */
export const instant = (epochMs: number): Instant => epochMs as Instant

export const plus = (at: Instant, milliseconds: number): Instant => (at + milliseconds) as Instant

let lastInstant = Number.NaN
let lastText = ''

/**
 * RFC 3339 UTC with milliseconds, e.g. `2026-11-21T04:35:40.123Z`. Under load many are asked for in
 * one millisecond, so the last one is kept.
 */
export function toRfc3339(at: Instant): string {
  if (at !== lastInstant) {
    lastText = new Date(at).toISOString()
    lastInstant = at
  }
  return lastText
}

/** Unix epoch seconds, rounded down. */
export const toEpochSeconds = (at: Instant): number => Math.floor(at / SECOND)
