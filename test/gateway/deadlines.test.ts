import fc from 'fast-check'
import t from 'tap'
import { instant, type Clock } from '../../src/base/clock.js'
import { createDeadlines, type Waits } from '../../gateway/http/deadlines.js'
import { eventually } from '../support/eventually.js'

interface Thing extends Waits<Thing> {
  readonly name: number
}

const thing = (name: number): Thing => ({
  name,
  line: undefined,
  due: instant(0),
  earlier: undefined,
  later: undefined,
})

void t.test(
  'what was not taken out is reported once, oldest first, and not before its time',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        async (stays, picks) => {
          let now = 0
          const clock: Clock = { now: () => instant(now) }
          const late: number[] = []
          const deadlines = createDeadlines<Thing>(5, clock, ({ name }) => late.push(name))
          const things = stays.map((_, name) => thing(name))
          for (const each of things) deadlines.add(each)
          const leaving = things.filter(({ name }) => stays[name] === false)
          while (leaving.length > 0) {
            const [gone] = leaving.splice((picks.next().value ?? 0) % leaving.length, 1)
            if (gone === undefined) break
            deadlines.delete(gone)
            deadlines.delete(gone)
          }
          const left = things.map(({ name }) => name).filter((name) => stays[name] === true)
          t.equal(deadlines.size, left.length)
          t.same(late, [], 'time stands still')
          now = 5
          await eventually('all that stayed are late', () => late.length === left.length)
          t.same(late, left)
          t.equal(deadlines.size, 0)
          deadlines.stop()
        },
      ),
      { numRuns: 25 },
    )
  },
)

void t.test('a thing may go from one line to the next', (t) => {
  const clock: Clock = { now: () => instant(0) }
  const never = (): void => {
    t.fail('time stands still')
  }
  const first = createDeadlines<Thing>(1_000, clock, never)
  const second = createDeadlines<Thing>(1_000, clock, never)
  const one = thing(1)
  first.add(one)
  first.delete(one)
  second.add(one)
  first.delete(one)
  t.equal(first.size, 0)
  t.equal(second.size, 1)
  second.delete(one)
  t.equal(second.size, 0)
  first.stop()
  second.stop()
  t.end()
})
