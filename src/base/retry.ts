/** A retry timer with exponential back-off, for reconnects and restarts. */
import { SECOND } from './clock.js'

export interface Backoff {
  readonly firstMs: number
  readonly maxMs: number
}

/** For streams between our own processes. */
export const RECONNECT: Backoff = { firstMs: 100, maxMs: SECOND }

export interface Retry {
  /** Delay of the next attempt in milliseconds; doubles each time, up to the maximum. */
  readonly delayMs: number
  schedule(attempt: () => void): void
  /** After a success: the next delay is the first one again. */
  reset(): void
  /** Drops a scheduled attempt. */
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
