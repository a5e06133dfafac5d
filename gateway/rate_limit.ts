/**
 * Rate limits: a token bucket for each key.
 *
 * Owns: the buckets. Does not own: the rates (settings, the partner's own), who the caller is.
 *
 * U1. A bucket holds one second's worth, so a burst of that size passes and the average is the
 *     rate.
 * U2. Buckets exist only for callers that authenticated: strangers can not make any.
 */
import { SECOND, type Clock, type Instant } from '../src/base/clock.js'

/** Seconds until the next request of this key may pass; 0: this one passes. */
export type RateLimit = (key: string, perSecond: number) => number

export const unlimited: RateLimit = () => 0

interface Bucket {
  tokens: number
  at: Instant
}

export function createRateLimit(clock: Clock): RateLimit {
  const buckets = new Map<string, Bucket>()
  return (key, perSecond) => {
    const now = clock.now()
    const bucket = buckets.get(key) ?? { tokens: perSecond, at: now }
    buckets.set(key, bucket)
    // A clock that is set back refills nothing.
    const refill = (Math.max(0, now - bucket.at) * perSecond) / SECOND
    bucket.tokens = Math.min(perSecond, bucket.tokens + refill)
    bucket.at = now
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perSecond)
    bucket.tokens -= 1
    return 0
  }
}
