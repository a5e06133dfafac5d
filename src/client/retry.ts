/**
 * Retry policy: which requests are retried, and after which delay.
 *
 * - Only safe requests are retried: reads, and writes with an Idempotency-Key.
 * - 429, 500, 502, 503, 504 and a missing answer are retried; all others are final.
 * - `Retry-After` is obeyed; without it the delay doubles, with jitter.
 */
import type { HttpAnswer } from './http.js'

export interface RetryOptions {
  /** Total attempts; 1: no retry. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
}

export const RETRY: RetryOptions = { attempts: 5, firstDelayMs: 200, maxDelayMs: 10_000 }

const RETRIED = new Set([429, 500, 502, 503, 504])

export const isRetried = ({ status }: HttpAnswer): boolean => RETRIED.has(status)

/** @param attempt number of the failed attempt, from 1; @param random from 0 to 1 */
export function delayMs(
  attempt: number,
  answer: HttpAnswer | undefined,
  { firstDelayMs, maxDelayMs }: RetryOptions,
  random: number,
): number {
  const retryAfter = Number(answer?.headers['retry-after'])
  if (retryAfter > 0) return Math.min(retryAfter * 1_000, maxDelayMs)
  const delay = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs)
  return delay * (0.5 + random / 2)
}
