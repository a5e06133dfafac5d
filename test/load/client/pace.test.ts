import fc from 'fast-check'
import t from 'tap'
import { closedLoop, openLoop, type Pace, type Stretch } from './pace.js'

const at = (ratePerSecond: number): readonly Stretch[] => [{ ms: Infinity, ratePerSecond }]

function takeAll(pace: Pace, now: number): number[] {
  const taken: number[] = []
  for (let at = pace.take(now); at !== undefined; at = pace.take(now)) taken.push(at)
  return taken
}

t.test('a closed loop is always due, from now, until its end', (t) => {
  const pace = closedLoop()
  t.same([pace.take(5), pace.take(5), pace.take(7)], [5, 5, 7])
  pace.end(10)
  t.equal(pace.take(9.9), 9.9)
  t.equal(pace.take(10), undefined)
  t.equal(pace.overdue(1_000), 0)
  t.notOk(pace.needsTicks)
  t.end()
})

t.test('an open loop is due at even distances, each once', (t) => {
  const pace = openLoop(100, at(200))
  t.ok(pace.needsTicks)
  t.equal(pace.take(99), undefined)
  t.same(takeAll(pace, 100), [100])
  t.same(takeAll(pace, 104.9), [])
  t.same(takeAll(pace, 115), [105, 110, 115])
  t.end()
})

t.test('what a stall delayed is due since its own time, not since the end of the stall', (t) => {
  const pace = openLoop(0, at(1_000))
  takeAll(pace, 10)
  t.equal(pace.overdue(14), 4)
  t.same(takeAll(pace, 14), [11, 12, 13, 14])
  t.equal(pace.overdue(14), 0)
  t.end()
})

t.test('after the end only the backlog is due', (t) => {
  const pace = openLoop(0, at(1_000))
  takeAll(pace, 2)
  pace.end(5)
  t.equal(pace.overdue(100), 2)
  t.same(takeAll(pace, 100), [3, 4])
  t.equal(pace.overdue(100), 0)
  t.end()
})

t.test('the rate is kept however seldom somebody looks', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 20 }),
      (rate, steps) => {
        const pace = openLoop(0, at(rate))
        let now = 0
        const taken = steps.flatMap((step) => takeAll(pace, (now += step)))
        const due = Math.floor((now * rate) / 1_000) + 1
        t.ok(Math.abs(taken.length - due) <= 1, 'rounding may move the last one')
        t.ok(taken.every((at, index) => Math.abs(at - (index * 1_000) / rate) < 1e-6))
      },
    ),
  )
  t.end()
})

t.test('a schedule of several rates keeps each for its time', (t) => {
  const pace = openLoop(1_000, [
    { ms: 10, ratePerSecond: 100 },
    { ms: 10, ratePerSecond: 1_000 },
    { ms: 20, ratePerSecond: 200 },
  ])
  t.same(takeAll(pace, 1_009), [1_000])
  t.same(takeAll(pace, 1_012), [1_010, 1_011, 1_012])
  t.equal(takeAll(pace, 1_019).length, 7)
  t.same(takeAll(pace, 1_040), [1_020, 1_025, 1_030, 1_035, 1_040])
  t.end()
})

t.test('whoever waited for longer than its patience has given up', (t) => {
  const pace = openLoop(0, at(1_000), 5)
  t.same(takeAll(pace, 4), [0, 1, 2, 3, 4])
  t.same(takeAll(pace, 14), [9, 10, 11, 12, 13, 14])
  t.equal(pace.givenUp, 4)
  t.end()
})
