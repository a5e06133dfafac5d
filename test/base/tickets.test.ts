/** Entries that wait for an answer. */
import fc from 'fast-check'
import t from 'tap'
import { createTickets } from '../../src/base/tickets.js'

const MAX = 5

t.test('each ticket finds its own entry, once, however long the others wait', async (t) => {
  // A number takes the entry at that index of those that wait; null adds one.
  const step = fc.option(fc.nat(MAX - 1), { freq: 2 })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const tickets = createTickets<number>(MAX)
      const waiting: (readonly [ticket: number, entry: number])[] = []
      const answered: number[] = []
      for (const [entry, index] of steps.entries()) {
        if (index === null && waiting.length < MAX) waiting.push([tickets.add(entry), entry])
        const [taken] = index === null ? [] : waiting.splice(index, 1)
        if (taken === undefined) continue
        t.equal(tickets.take(taken[0]), taken[1])
        answered.push(taken[0])
        t.ok(answered.every((late) => tickets.take(late) === undefined))
      }
      t.equal(tickets.size, waiting.length)
      t.equal(
        new Set([...waiting.map(([ticket]) => ticket), ...answered]).size,
        answered.length + waiting.length,
      )
      const isOdd = (entry: number): boolean => entry % 2 === 1
      const entries = waiting.map(([, entry]) => entry)
      t.same(new Set(tickets.takeAll(isOdd)), new Set(entries.filter(isOdd)))
      t.same(new Set(tickets.takeAll()), new Set(entries.filter((entry) => !isOdd(entry))))
      t.equal(tickets.size, 0)
    }),
  )
})
