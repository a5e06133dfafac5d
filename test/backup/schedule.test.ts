/** When backups are made: on a grid, also after a failed run and a change of the clock. */
import t from 'tap'
import { parseInterval, runEvery } from '../../src/backup/schedule.js'
import { DAY, instant, plus, type Instant } from '../../src/base/clock.js'

const START = instant(1_795_000_000_000)

t.test('a schedule keeps to its grid and survives a failed run', async (t) => {
  let now = START
  const begun: Instant[] = []
  const failed: string[] = []
  await runEvery({
    everyMs: 60_000,
    clock: { now: () => now },
    pauseUntil: (at) => {
      now = at
      return Promise.resolve()
    },
    isStopped: () => begun.length === 4,
    run: () => {
      begun.push(now)
      now = plus(now, begun.length === 2 ? 61_000 : 1_000)
      return begun.length === 1 ? Promise.reject(new Error('disk')) : Promise.resolve()
    },
    onFailure: (error, next) => {
      failed.push(`${(error as Error).message} ${next - START}`)
      return Promise.resolve()
    },
  })
  t.same(
    begun.map((at) => at - START),
    [0, 60_000, 180_000, 240_000],
  )
  t.same(failed, ['disk 60000'])
  t.same(['15m', '1h', '2d', '0h', '1', 'h', '1s'].map(parseInterval), [
    ...[900_000, 3_600_000, 172_800_000],
    ...[undefined, undefined, undefined, undefined],
  ])
})

t.test('a long interval is waited for, unless the clock is set back', async (t) => {
  let now = START
  const begun: Instant[] = []
  await runEvery({
    everyMs: 30 * DAY,
    clock: { now: () => now },
    pauseUntil: (at) => {
      const isLonger = at - now > TIMER_MAX_MS
      if (!isLonger) now = begun.length === 3 ? plus(now, -9 * DAY) : at
      return Promise.resolve()
    },
    isStopped: () => begun.length === 5,
    run: () => Promise.resolve(void begun.push(now)),
    onFailure: () => Promise.resolve(),
  })
  t.same(
    begun.map((at) => (at - START) / DAY),
    [0, 30, 60, 51, 60],
  )
})

/** A longer timer of Node ends at once. */
const TIMER_MAX_MS = 2 ** 31 - 1
