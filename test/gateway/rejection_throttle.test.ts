/** The rejection throttle: order, pace, bound. */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import {
  AT_ONCE_MAX,
  createRejectionThrottle,
  PER_SECOND,
  WAITING_MAX,
} from '../../gateway/admission/rejection_throttle.js'

t.test('rejections are sent in order, deferred and paced', async (t) => {
  const refusals = createRejectionThrottle(systemClock)
  const answered: number[] = []
  const count = 4 * AT_ONCE_MAX
  const began = performance.now()
  const last = new Promise<void>((resolve) => {
    for (let i = 0; i < count; i += 1) {
      refusals.add(() => {
        answered.push(i)
        if (i === count - 1) resolve()
      })
    }
  })
  t.same(answered, [], 'not within the event-loop iteration of the request')
  await last
  const took = performance.now() - began
  t.ok(took >= ((count - 2 * AT_ONCE_MAX) * 1_000) / PER_SECOND, `they took ${took} ms`)
  t.same(
    answered,
    Array.from({ length: count }, (_, i) => i),
  )
})

t.test('a rejection after an idle time is sent once, deferred', async (t) => {
  const refusals = createRejectionThrottle(systemClock)
  const answered: number[] = []
  for (const round of [1, 2, 3]) {
    const before = answered.length
    await new Promise<void>((resolve) => {
      refusals.add(() => {
        answered.push(round)
        resolve()
      })
      t.equal(answered.length, before, 'not within the event-loop iteration of the request')
    })
  }
  t.same(answered, [1, 2, 3])
})

t.test('a clock that moves back delays no rejection', async (t) => {
  let now = systemClock.now()
  const refusals = createRejectionThrottle({ now: () => now })
  const answered = [1, 2, 3].map(() => new Promise<void>((resolve) => refusals.add(resolve)))
  now = (now - 60_000) as typeof now
  await Promise.all(answered)
  t.pass('all rejections are sent')
})

t.test('beyond WAITING_MAX a rejection is sent at once', async (t) => {
  const refusals = createRejectionThrottle(systemClock)
  let answered = 0
  const last = new Promise<void>((resolve) => {
    for (let i = 1; i < WAITING_MAX; i += 1) refusals.add(() => (answered += 1))
    refusals.add(resolve)
  })
  t.equal(answered, 0)
  refusals.add(() => (answered += 1))
  t.equal(answered, 1, 'one more is sent at once')
  await last
  t.equal(answered, WAITING_MAX)
})
