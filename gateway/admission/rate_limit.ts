/**
 * Rate limits: one token bucket per key.
 *
 * Does not own: the rates (settings, or per partner), the meaning of keys.
 *
 * - A bucket holds one second of tokens: a burst of that size passes, and the average is the rate.
 * - A bucket that is unused for a second is full, like an absent one, and is dropped: requests with
 *   arbitrary keys cannot exhaust memory.
 */
import { SECOND, type Clock, type Instant } from '../../src/base/clock.js'

/** Seconds until the next request of this key may pass. 0 means this one passes. */
export type RateLimit = (key: string, perSecond: number) => number

interface Bucket {
  tokens: number
  at: Instant
}

export function createRateLimit(clock: Clock): RateLimit {
  let recent = new Map<string, Bucket>()
  let earlier = new Map<string, Bucket>()
  let rotatedAt = clock.now()

  const rotate = (now: Instant): void => {
    if (now >= rotatedAt && now - rotatedAt < SECOND) return
    // A clock that moved back only starts a new second.
    if (now > rotatedAt) {
      earlier = recent
      recent = new Map()
    }
    rotatedAt = now
  }

  return (key, perSecond) => {
    const now = clock.now()
    rotate(now)
    let bucket = recent.get(key)
    if (bucket === undefined) {
      bucket = earlier.get(key) ?? { tokens: perSecond, at: now }
      recent.set(key, bucket)
    }
    // A clock that moved back refills nothing.
    const refill = (Math.max(0, now - bucket.at) * perSecond) / SECOND
    bucket.tokens = Math.min(perSecond, bucket.tokens + refill)
    bucket.at = now
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perSecond)
    bucket.tokens -= 1
    return 0
  }
}
