/**
 * Rate limits: a token bucket for each key.
 *
 * Owns: the buckets. Does not own: the rates (settings, the partner's own), what the keys stand
 * for.
 *
 * - A bucket holds one second's worth, so a burst of that size passes and the average is the
 *   rate.
 * - A bucket that nobody touched for a second is full, like one that is not there, and is
 *   forgotten: strangers can fill no memory with them.
 */
import { SECOND, type Clock, type Instant } from '../../src/base/clock.js'

/** Seconds until the next request of this key may pass; 0: this one passes. */
export type RateLimit = (key: string, perSecond: number) => number

interface Bucket {
  tokens: number
  at: Instant
}

export function createRateLimit(clock: Clock): RateLimit {
  let recent = new Map<string, Bucket>()
  let earlier = new Map<string, Bucket>()
  let turnedAt = clock.now()

  const turn = (now: Instant): void => {
    if (now >= turnedAt && now - turnedAt < SECOND) return
    // A clock that is set back only starts another second.
    if (now > turnedAt) {
      earlier = recent
      recent = new Map()
    }
    turnedAt = now
  }

  return (key, perSecond) => {
    const now = clock.now()
    turn(now)
    let bucket = recent.get(key)
    if (bucket === undefined) {
      bucket = earlier.get(key) ?? { tokens: perSecond, at: now }
      recent.set(key, bucket)
    }
    // A clock that is set back refills nothing.
    const refill = (Math.max(0, now - bucket.at) * perSecond) / SECOND
    bucket.tokens = Math.min(perSecond, bucket.tokens + refill)
    bucket.at = now
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perSecond)
    bucket.tokens -= 1
    return 0
  }
}
