/** A clock is steady after an hour without a step, however old the process is. */
import t from 'tap'
import { DAY, HOUR, instant, MINUTE, SECOND } from '../../src/base/clock.js'
import { createSteadyClock, STEADY_AFTER_MS } from '../../src/base/steady_clock.js'

const YEARS = 73 * 365 * DAY

function aClock() {
  let [at, elapsed] = [1_790_000_000_000, 5_000]
  const { isSteady } = createSteadyClock({ now: () => instant(at) }, () => elapsed)
  return {
    isSteady,
    step: (ms: number) => void (at += ms),
    pass: (ms: number, drift = 0) => {
      at += ms + drift
      elapsed += ms
    },
  }
}

t.test('a process that has just started does not know its clock', async (t) => {
  const clock = aClock()
  t.notOk(clock.isSteady())
  clock.pass(STEADY_AFTER_MS - 1)
  t.notOk(clock.isSteady())
  clock.pass(1)
  t.ok(clock.isSteady())
  clock.pass(30 * DAY, 10 * SECOND)
  t.ok(clock.isSteady(), 'a time server slews it')
})

for (const by of [YEARS, -YEARS, 2 * MINUTE, -2 * MINUTE]) {
  t.test(`a step of ${by} ms`, async (t) => {
    const clock = aClock()
    clock.pass(2 * HOUR)
    t.ok(clock.isSteady())
    clock.step(by)
    t.notOk(clock.isSteady())
    clock.pass(HOUR / 2)
    t.notOk(clock.isSteady())
    clock.step(-by)
    t.notOk(clock.isSteady(), 'the correction is a step as well')
    clock.pass(HOUR)
    t.ok(clock.isSteady())
  })
}
