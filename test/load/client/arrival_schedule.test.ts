import fc from 'fast-check'
import t from 'tap'
import { closedLoop, openLoop, type ArrivalSchedule, type Stretch } from './arrival_schedule.js'

const at = (ratePerSecond: number): readonly Stretch[] => [{ ms: Infinity, ratePerSecond }]

function takeAll(schedule: ArrivalSchedule, now: number): number[] {
  const taken: number[] = []
  for (let at = schedule.take(now); at !== undefined; at = schedule.take(now)) taken.push(at)
  return taken
}

t.test('a closed loop is always due, from now, until its end', (t) => {
  const schedule = closedLoop()
  t.same([schedule.take(5), schedule.take(5), schedule.take(7)], [5, 5, 7])
  schedule.end(10)
  t.equal(schedule.take(9.9), 9.9)
  t.equal(schedule.take(10), undefined)
  t.equal(schedule.overdue(1_000), 0)
  t.notOk(schedule.needsTicks)
  t.end()
})

t.test('an open loop is due at even distances, each once', (t) => {
  const schedule = openLoop(100, at(200))
  t.ok(schedule.needsTicks)
  t.equal(schedule.take(99), undefined)
  t.same(takeAll(schedule, 100), [100])
  t.same(takeAll(schedule, 104.9), [])
  t.same(takeAll(schedule, 115), [105, 110, 115])
  t.end()
})

t.test('what a stall delayed is due since its own time, not since the end of the stall', (t) => {
  const schedule = openLoop(0, at(1_000))
  takeAll(schedule, 10)
  t.equal(schedule.overdue(14), 4)
  t.same(takeAll(schedule, 14), [11, 12, 13, 14])
  t.equal(schedule.overdue(14), 0)
  t.end()
})

t.test('after the end only the backlog is due', (t) => {
  const schedule = openLoop(0, at(1_000))
  takeAll(schedule, 2)
  schedule.end(5)
  t.equal(schedule.overdue(100), 2)
  t.same(takeAll(schedule, 100), [3, 4])
  t.equal(schedule.overdue(100), 0)
  t.end()
})

t.test('the rate is kept however seldom somebody looks', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 20 }),
      (rate, steps) => {
        const schedule = openLoop(0, at(rate))
        let now = 0
        const taken = steps.flatMap((step) => takeAll(schedule, (now += step)))
        const due = Math.floor((now * rate) / 1_000) + 1
        t.ok(Math.abs(taken.length - due) <= 1, 'rounding may move the last one')
        t.ok(taken.every((at, index) => Math.abs(at - (index * 1_000) / rate) < 1e-6))
      },
    ),
  )
  t.end()
})

t.test('a schedule of several rates keeps each for its time', (t) => {
  const schedule = openLoop(1_000, [
    { ms: 10, ratePerSecond: 100 },
    { ms: 10, ratePerSecond: 1_000 },
    { ms: 20, ratePerSecond: 200 },
  ])
  t.same(takeAll(schedule, 1_009), [1_000])
  t.same(takeAll(schedule, 1_012), [1_010, 1_011, 1_012])
  t.equal(takeAll(schedule, 1_019).length, 7)
  t.same(takeAll(schedule, 1_040), [1_020, 1_025, 1_030, 1_035, 1_040])
  t.end()
})

t.test('whoever waited for longer than its patience has given up', (t) => {
  const schedule = openLoop(0, at(1_000), 5)
  t.same(takeAll(schedule, 4), [0, 1, 2, 3, 4])
  t.same(takeAll(schedule, 14), [9, 10, 11, 12, 13, 14])
  t.equal(schedule.givenUp, 4)
  t.end()
})
