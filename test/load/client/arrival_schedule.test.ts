/** The schedule of arrivals in closed and open loops. */
import fc from 'fast-check'
import t from 'tap'
import { closedLoop, openLoop, type ArrivalSchedule, type Phase } from './arrival_schedule.js'

const at = (ratePerSecond: number): readonly Phase[] => [{ ms: Infinity, ratePerSecond }]

function takeAll(schedule: ArrivalSchedule, now: number): number[] {
  const taken: number[] = []
  for (let at = schedule.take(now); at !== undefined; at = schedule.take(now)) taken.push(at)
  return taken
}

t.test('in a closed loop a journey is always due now, until the end', (t) => {
  const schedule = closedLoop()
  t.same([schedule.take(5), schedule.take(5), schedule.take(7)], [5, 5, 7])
  schedule.end(10)
  t.same([schedule.take(9.9), schedule.take(10), schedule.overdue(1_000)], [9.9, undefined, 0])
  t.end()
})

t.test('delayed journeys keep their due times, and after the end only those are due', (t) => {
  const schedule = openLoop(100, at(1_000))
  t.equal(schedule.take(99), undefined)
  t.same(takeAll(schedule, 102), [100, 101, 102])
  schedule.end(105)
  t.equal(schedule.overdue(200), 2)
  t.same(takeAll(schedule, 200), [103, 104])
  t.equal(schedule.overdue(200), 0)
  t.end()
})

t.test('the rate does not depend on the polling interval', (t) => {
  const steps = fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), steps, (rate, waits) => {
      const schedule = openLoop(0, at(rate))
      let now = 0
      const taken = waits.flatMap((wait) => takeAll(schedule, (now += wait)))
      const due = Math.floor((now * rate) / 1_000) + 1
      t.ok(Math.abs(taken.length - due) <= 1, 'rounding may move the last journey')
      t.ok(taken.every((time, index) => Math.abs(time - (index * 1_000) / rate) < 1e-6))
    }),
  )
  t.end()
})

t.test('each phase keeps its rate for its duration', (t) => {
  const [slow, fast, last] = [100, 1_000, 200].map((ratePerSecond) => ({ ms: 10, ratePerSecond }))
  const schedule = openLoop(1_000, [slow!, fast!, { ...last!, ms: 20 }])
  t.same(takeAll(schedule, 1_012), [1_000, 1_010, 1_011, 1_012])
  t.equal(takeAll(schedule, 1_019).length, 7)
  t.same(takeAll(schedule, 1_040), [1_020, 1_025, 1_030, 1_035, 1_040])
  t.end()
})

t.test('a journey that waited longer than the patience is abandoned', (t) => {
  const schedule = openLoop(0, at(1_000), 5)
  t.same(takeAll(schedule, 4), [0, 1, 2, 3, 4])
  t.same(takeAll(schedule, 14), [9, 10, 11, 12, 13, 14])
  t.equal(schedule.abandoned, 4)
  t.end()
})
