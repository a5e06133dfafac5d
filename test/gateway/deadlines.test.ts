/** Queues of deadlines. */
import fc from 'fast-check'
import t from 'tap'
import { instant, type Clock } from '../../src/base/clock.js'
import { createDeadlines, type DeadlineEntry } from '../../gateway/http/deadlines.js'
import { eventually } from '../support/eventually.js'

interface Entry extends DeadlineEntry<Entry> {
  readonly name: number
}

const entry = (name: number): Entry => ({
  name,
  queue: undefined,
  due: instant(0),
  earlier: undefined,
  later: undefined,
})

t.test('entries that are not removed expire once, oldest first and not early', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 30 }),
      fc.infiniteStream(fc.nat()),
      async (stays, picks) => {
        let now = 0
        const clock: Clock = { now: () => instant(now) }
        const late: number[] = []
        const deadlines = createDeadlines<Entry>(5, clock, ({ name }) => late.push(name))
        const entries = stays.map((_, name) => entry(name))
        for (const each of entries) deadlines.add(each)
        const removed = entries.filter(({ name }) => stays[name] === false)
        while (removed.length > 0) {
          const [one] = removed.splice((picks.next().value ?? 0) % removed.length, 1)
          if (one === undefined) break
          deadlines.delete(one)
          deadlines.delete(one)
        }
        const left = entries.map(({ name }) => name).filter((name) => stays[name] === true)
        t.equal(deadlines.size, left.length)
        t.same(late, [], 'the clock is fixed')
        now = 5
        await eventually('all remaining entries have expired', () => late.length === left.length)
        t.same(late, left)
        t.equal(deadlines.size, 0)
        deadlines.stop()
      },
    ),
    { numRuns: 25 },
  )
})

t.test('an entry can move from one queue to the next', async (t) => {
  const clock: Clock = { now: () => instant(0) }
  const never = (): void => {
    t.fail('the clock is fixed')
  }
  const first = createDeadlines<Entry>(1_000, clock, never)
  const second = createDeadlines<Entry>(1_000, clock, never)
  const one = entry(1)
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
})
