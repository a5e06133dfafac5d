/**
 * When a request is sent again, and after how long.
 *
 * - Only a request that is safe to repeat is: a read, or a write with an Idempotency-Key.
 * - 429, 500, 502, 503, 504 and a missing answer are retried; everything else is final.
 * - `Retry-After` is obeyed; without it the delay doubles, with jitter.
 */
import type { Answer } from './http.js'

export interface RetryOptions {
  /** Attempts in all; 1: no retry. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
}

export const RETRY: RetryOptions = { attempts: 5, firstDelayMs: 200, maxDelayMs: 10_000 }

const RETRIED = new Set([429, 500, 502, 503, 504])

export const isRetried = ({ status }: Answer): boolean => RETRIED.has(status)

/** @param attempt the one that failed, from 1; @param random from 0 to 1 */
export function delayMs(
  attempt: number,
  answer: Answer | undefined,
  { firstDelayMs, maxDelayMs }: RetryOptions,
  random: number,
): number {
  const told = Number(answer?.headers['retry-after'])
  if (told > 0) return Math.min(told * 1_000, maxDelayMs)
  const grown = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs)
  return grown * (0.5 + random / 2)
}
