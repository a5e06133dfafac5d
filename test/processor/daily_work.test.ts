/** Daily work, which erases by age, waits for a steady clock. */
import t from 'tap'
import { DAY, instant } from '../../src/base/clock.js'
import { createDailyWork } from '../../src/processor/background/daily_work.js'
import { eventually } from '../support/eventually.js'

t.test('it does not begin while the clock is not steady', async (t) => {
  let now = instant(1_790_000_000_000)
  let [isSteady, looks, runs] = [false, 0, 0]
  const work = createDailyWork({
    clock: { now: () => now },
    isSteady: () => {
      looks += 1
      return isSteady
    },
    isOn: true,
    run: async () => {
      runs += 1
      return true
    },
    stopped: new AbortController(),
    onError: (error) => t.error(error),
  })
  work.start()
  t.teardown(() => work.stop())
  await eventually('a look', () => looks > 0)
  t.equal(runs, 0)
  isSteady = true
  await eventually('a run', () => runs === 1)
  now = instant(now + DAY)
  isSteady = false
  const before = looks
  await eventually('a further look', () => looks > before)
  t.equal(runs, 1)
})
