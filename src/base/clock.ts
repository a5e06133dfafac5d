/**
 * Instants, durations, pauses and the system clock, which is read nowhere else.
 *
 * - An Instant is whole epoch milliseconds; every point in time in the code is one.
 */

/** Epoch milliseconds, UTC. */
export type Instant = number & { readonly __brand: 'Instant' }

export interface Clock {
  now(): Instant
}

export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>

export const systemClock: Clock = { now: () => Date.now() as Instant }

/**
 * Resolves after input that arrived meanwhile: a process that was suspended handles it before it
 * judges that an answer is late.
 *
 * @param signal ends it early, as a longer one than needed keeps a process from ending
 */
export const systemPause: Pause = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      setImmediate(resolve)
    }, ms)
    signal?.addEventListener('abort', end)
  })

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The only conversion from a number, which must be epoch milliseconds. */
export const instant = (epochMs: number): Instant => epochMs as Instant

/** The end of the year 9999. RFC 3339 has no text of a later moment. */
const LAST_MOMENT = 253_402_300_799_999

/** Whether a stored number can be a moment; any other one is damaged. */
export const isMoment = (stored: number): boolean =>
  Number.isSafeInteger(stored) && stored >= 0 && stored <= LAST_MOMENT

export const plus = (at: Instant, milliseconds: number): Instant => (at + milliseconds) as Instant

/** A power of two. */
const TEXTS_KEPT = 512
const keptInstants: number[] = new Array<number>(TEXTS_KEPT).fill(Number.NaN)
const keptTexts: string[] = new Array<string>(TEXTS_KEPT).fill('')

/**
 * RFC 3339 UTC with milliseconds, e.g. `2026-11-21T04:35:40.123Z`. The texts of recent instants are
 * kept, because under load each is written many times: in views, events and rows of one payment.
 */
export function toRfc3339(at: Instant): string {
  const slot = at & (TEXTS_KEPT - 1)
  if (at !== keptInstants[slot]) {
    keptTexts[slot] = new Date(at).toISOString()
    keptInstants[slot] = at
  }
  return keptTexts[slot]!
}

/** Unix epoch seconds, rounded down. */
export const toEpochSeconds = (at: Instant): number => Math.floor(at / SECOND)
