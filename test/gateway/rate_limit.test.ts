/** Token buckets. */
import fc from 'fast-check'
import t from 'tap'
import { instant, type Clock, type Instant } from '../../src/base/clock.js'
import { createRateLimit } from '../../gateway/admission/rate_limit.js'

function heldClock(): Clock & { set(at: number): void } {
  let now: Instant = instant(1_000_000)
  return { now: () => now, set: (at) => (now = instant(at)) }
}

t.test('a burst of one second passes, then one request per token', async (t) => {
  const clock = heldClock()
  const limit = createRateLimit(clock)
  for (let i = 0; i < 10; i++) t.equal(limit('a', 10), 0)
  t.equal(limit('a', 10), 1)
  t.equal(limit('b', 10), 0, 'another key has its own bucket')
  clock.set(1_000_099)
  t.equal(limit('a', 10), 1)
  clock.set(1_000_100)
  t.equal(limit('a', 10), 0)
  t.equal(limit('a', 10), 1)
})

t.test('a bucket that is still filling is kept', async (t) => {
  const clock = heldClock()
  const limit = createRateLimit(clock)
  const drain = (key: string): void => {
    while (limit(key, 10) === 0);
  }
  drain('a')
  clock.set(1_000_950)
  drain('a')
  clock.set(1_001_000)
  t.equal(limit('b', 10), 0)
  clock.set(1_001_049)
  t.equal(limit('a', 10), 0)
  t.equal(limit('a', 10), 1, 'half a token and a tenth of a second, not a full bucket')
  clock.set(1_003_050)
  for (let i = 0; i < 10; i++) t.equal(limit('a', 10), 0)
  t.equal(limit('a', 10), 1, 'never more than a full bucket')
})

t.test('a clock that moves back neither adds nor removes tokens', async (t) => {
  const clock = heldClock()
  const limit = createRateLimit(clock)
  t.equal(limit('a', 1), 0)
  clock.set(0)
  t.equal(limit('a', 1), 1)
  clock.set(1_000)
  t.equal(limit('a', 1), 0)
})

/** Sometimes a pause after which buckets are dropped. */
const longAtTimes = (pause: number): fc.Arbitrary<number> =>
  fc.constant(pause > 295 ? pause * 10 : pause)

t.test('in any interval no more pass than the rate and one burst', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 300 }).chain(longAtTimes), {
        minLength: 1,
        maxLength: 300,
      }),
      (perSecond, pauses) => {
        const clock = heldClock()
        const limit = createRateLimit(clock)
        let at = 0
        let passed = 0
        clock.set(0)
        for (const pause of pauses) {
          at += pause
          clock.set(at)
          if (limit('a', perSecond) === 0) passed += 1
        }
        return passed <= perSecond + (at * perSecond) / 1_000 + 1e-6
      },
    ),
  )
  t.pass()
})
