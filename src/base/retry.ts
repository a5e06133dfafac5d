/**
 * A retry timer with exponential back-off: for streams that are opened again and processes that are
 * started again.
 */
import { SECOND } from './clock.js'

export interface Backoff {
  readonly firstMs: number
  readonly maxMs: number
}

/** For streams between our own processes. */
export const RECONNECT: Backoff = { firstMs: 100, maxMs: SECOND }

export interface Retry {
  /** What the next attempt waits, milliseconds; twice as long each time, up to the maximum. */
  readonly delayMs: number
  schedule(attempt: () => void): void
  /** After a success: the next delay is the first one again. */
  reset(): void
  /** A scheduled attempt is dropped. */
  cancel(): void
}

export function createRetry({ firstMs, maxMs }: Backoff): Retry {
  let delayMs = firstMs
  let timer: NodeJS.Timeout | undefined
  return {
    get delayMs() {
      return delayMs
    },
    schedule: (attempt) => {
      timer = setTimeout(attempt, delayMs)
      delayMs = Math.min(delayMs * 2, maxMs)
    },
    reset: () => {
      delayMs = firstMs
    },
    cancel: () => clearTimeout(timer),
  }
}
