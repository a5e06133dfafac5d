/**
 * Retry policy: which requests are retried, and after which delay.
 *
 * - 429 and a refused connection are retried: nothing was carried out.
 * - 500, 502, 503, 504, a 2xx whose body is not JSON, and a missing or cut answer leave the outcome
 *   unknown. They are retried only when the request is repeatable.
 * - `Retry-After` is obeyed, as seconds or as a date. A longer one than `maxRetryAfterMs` ends the
 *   retries. Without it the delay doubles, with jitter.
 * - The delays add up to 15 to 20 seconds by default, longer than a restart of the service.
 */
import type { HttpAnswer } from './http.js'

export interface RetryOptions {
  /** Total attempts; 1: no retry. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** The longest `Retry-After` that is waited for; a longer one is thrown with the error. */
  readonly maxRetryAfterMs: number
}

export const RETRY: RetryOptions = {
  attempts: 9,
  firstDelayMs: 250,
  maxDelayMs: 4_000,
  maxRetryAfterMs: 60_000,
}

const JITTER = 0.2
const NOT_CARRIED_OUT = 429
const OUTCOME_UNKNOWN = new Set([500, 502, 503, 504])
/** Network errors before the first byte of the request. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

/** Whether an answer without success is retried. Such a 2xx was not sent by the service. */
export const isRetriedStatus = (status: number, isRepeatable: boolean): boolean =>
  status === NOT_CARRIED_OUT || (isRepeatable && (OUTCOME_UNKNOWN.has(status) || is2xx(status)))

export const is2xx = (status: number): boolean => status >= 200 && status < 300

export const isRetriedFault = (fault: unknown, isRepeatable: boolean): boolean =>
  isRepeatable || NOT_SENT.has(String((fault as { readonly code?: unknown } | null)?.code))

/** @returns milliseconds from now, or undefined without a valid header */
export function retryAfterMs({ headers }: HttpAnswer, now: number): number | undefined {
  const value = headers['retry-after']
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  const until = Date.parse(value)
  // Both dates are of the server's clock, which may differ from this one.
  const sentAt = Date.parse(headers.date ?? '')
  return Number.isNaN(until)
    ? undefined
    : Math.max(0, until - (Number.isNaN(sentAt) ? now : sentAt))
}

export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number
  readonly retryAfterMs: number | undefined
  /** From 0 to 1. */
  readonly random: number
}

/** @returns undefined: no further attempt */
export function delayMs(
  { attempt, retryAfterMs: required = 0, random }: FailedAttempt,
  { attempts, firstDelayMs, maxDelayMs, maxRetryAfterMs }: RetryOptions,
): number | undefined {
  if (attempt >= attempts || required > maxRetryAfterMs) return undefined
  const backoff = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs)
  return Math.max(required, backoff * (1 - JITTER + JITTER * random))
}
