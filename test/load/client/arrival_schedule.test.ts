/** The schedule of arrivals in closed and open loops. */
import fc from 'fast-check'
import t from 'tap'
import { closedLoop, openLoop, type ArrivalSchedule } from './arrival_schedule.js'

const steady = (startsAt: number, ratePerSecond: number, patienceMs?: number): ArrivalSchedule =>
  openLoop(startsAt, [{ ms: Infinity, ratePerSecond }], patienceMs)

function takeAll(schedule: ArrivalSchedule, now: number): number[] {
  const taken: number[] = []
  for (let at = schedule.take(now); at !== undefined; at = schedule.take(now)) taken.push(at)
  return taken
}

const closed = closedLoop()
t.same([closed.take(5), closed.take(5), closed.take(7)], [5, 5, 7], 'closed loop: always due')
closed.endsAt = 10
t.same([closed.take(9.9), closed.take(10), closed.overdue(1_000)], [9.9, undefined, 0])

const late = steady(100, 1_000)
t.equal(late.take(99), undefined)
t.same(takeAll(late, 102), [100, 101, 102], 'delayed journeys keep their due times')
late.endsAt = 105
t.equal(late.overdue(200), 2)
t.same(takeAll(late, 200), [103, 104], 'after the end only those are due')
t.equal(late.overdue(200), 0)

const impatient = steady(0, 1_000, 5)
t.same(takeAll(impatient, 4), [0, 1, 2, 3, 4])
t.same(takeAll(impatient, 14), [9, 10, 11, 12, 13, 14])
t.equal(impatient.abandoned, 4, 'a journey that waited longer than the patience is abandoned')

const phases = [100, 1_000, 200].map((ratePerSecond) => ({ ms: 10, ratePerSecond }))
const phased = openLoop(1_000, phases)
t.same(takeAll(phased, 1_012), [1_000, 1_010, 1_011, 1_012], 'each phase keeps its rate')
t.equal(takeAll(phased, 1_019).length, 7)
t.same(takeAll(phased, 1_040), [1_020, 1_025, 1_030, 1_035, 1_040])

t.test('the rate does not depend on the polling interval', async (t) => {
  const steps = fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), steps, (rate, waits) => {
      const schedule = steady(0, rate)
      let now = 0
      const taken = waits.flatMap((wait) => takeAll(schedule, (now += wait)))
      const due = Math.floor((now * rate) / 1_000) + 1
      t.ok(Math.abs(taken.length - due) <= 1, 'rounding may move the last journey')
      t.ok(taken.every((time, index) => Math.abs(time - (index * 1_000) / rate) < 1e-6))
    }),
  )
})
