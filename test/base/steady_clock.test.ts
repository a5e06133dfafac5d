/** A clock is steady after an hour without a step, however old the process is. */
import t from 'tap'
import { DAY, HOUR, instant, MINUTE, SECOND } from '../../src/base/clock.js'
import {
  createSteadyClock,
  STEADY_AFTER_MS,
  TRUSTED_AFTER_MS,
} from '../../src/base/steady_clock.js'

const YEARS = 73 * 365 * DAY

function aClock() {
  let [at, elapsed] = [1_790_000_000_000, 5_000]
  const { isSteady, isTrusted } = createSteadyClock({ now: () => instant(at) }, () => elapsed)
  return {
    isSteady,
    isTrusted,
    now: () => instant(at),
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

t.test('a clock is trusted once it is confirmed and steady, or steady for a week', async (t) => {
  const clock = aClock()
  t.notOk(clock.isTrusted(clock.now()), 'it has just started')
  clock.pass(STEADY_AFTER_MS)
  t.notOk(clock.isTrusted(null), 'it is not confirmed')
  t.ok(clock.isTrusted(clock.now()))
  const confirmedAt = clock.now()
  clock.pass(2 * HOUR)
  t.ok(clock.isTrusted(confirmedAt))
  clock.pass(1)
  t.notOk(clock.isTrusted(confirmedAt), 'too long ago')
  clock.step(YEARS)
  t.notOk(clock.isTrusted(clock.now()), 'it has stepped')
  clock.pass(TRUSTED_AFTER_MS - 1)
  t.notOk(clock.isTrusted(confirmedAt), 'what was confirmed was another time')
  clock.pass(1)
  t.ok(clock.isTrusted(null), 'a week is enough')
})
