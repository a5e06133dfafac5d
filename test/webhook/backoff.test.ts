/** The schedule of delivery attempts. */
import fc from 'fast-check'
import t from 'tap'
import { DAY, HOUR, instant } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import { JITTER, PAUSE_MS, retryAt } from '../../actors/webhook/delivery/backoff.js'

const NOW = instant(1_790_000_000_000)
const random = (fraction: number): Random => ({
  bytes: (count) => Buffer.alloc(count),
  fraction: () => fraction,
})
const RULES = { attemptsMax: 12, scalePct: 100 }

t.test('twelve attempts take two to three days', async (t) => {
  t.equal(PAUSE_MS.length, 12)
  const total = PAUSE_MS.reduce<number>((sum, pause) => sum + pause, 0)
  t.ok(total > 2 * DAY && total < 2.5 * DAY, `${total / HOUR} hours`)
  t.equal(retryAt(0, NOW, RULES, random(0.7)), NOW, 'the first attempt is made at once')
})

t.test('every pause is within the jitter of its scheduled value', async () => {
  const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(fc.nat(11), fraction, fc.integer({ min: 0, max: 100 }), (made, part, scalePct) => {
      const at = retryAt(made, NOW, { attemptsMax: 12, scalePct }, random(part))
      const planned = ((PAUSE_MS[made] ?? NaN) * scalePct) / 100
      const pause = (at ?? NaN) - NOW
      return pause >= planned * (1 - JITTER) - 1 && pause <= planned * (1 + JITTER) + 1
    }),
  )
})

t.test('jitter spreads to both sides', async (t) => {
  t.equal(retryAt(1, NOW, RULES, random(0)), NOW + 4_000)
  t.equal(retryAt(1, NOW, RULES, random(0.5)), NOW + 5_000)
  t.equal(retryAt(1, NOW, RULES, random(0.999999)), NOW + 6_000)
})

t.test('the schedule ends at the configured maximum of attempts', async (t) => {
  for (let limit = 1; limit <= 12; limit++) {
    const rules = { attemptsMax: limit, scalePct: 100 }
    t.not(retryAt(limit - 1, NOW, rules, random(0.5)), null)
    t.equal(retryAt(limit, NOW, rules, random(0.5)), null)
  }
})
