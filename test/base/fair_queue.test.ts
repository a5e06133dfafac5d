/** The fair queue: one item per key in turn, in the order of each key. */
import fc from 'fast-check'
import t from 'tap'
import { createFairQueue } from '../../src/base/fair_queue.js'

t.test('a waiting key gets its share of a batch', async (t) => {
  const queue = createFairQueue<string, string>()
  for (let i = 0; i < 500; i++) queue.add('a', `a${i}`)
  queue.add('b', 'b0')
  const batch = queue.take(10)
  t.equal(batch.length, 10)
  t.ok(batch.includes('b0'))
  t.same(
    batch.filter((item) => item !== 'b0'),
    Array.from({ length: 9 }, (_, i) => `a${i}`),
    'in order',
  )
  t.equal(queue.size, 491)
})

t.test('keys alternate, one item each', async (t) => {
  const queue = createFairQueue<string, string>()
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item)
  queue.add('b', 'b1')
  const order = Array.from({ length: 5 }, () => queue.next())
  t.same(order, ['a1', 'b1', 'a2', 'a3', undefined])
})

t.test('a key that may not have its turn keeps its place', async (t) => {
  const queue = createFairQueue<string, string>()
  for (const item of ['a1', 'a2']) queue.add('a', item)
  queue.add('b', 'b1')
  t.equal(queue.count('a'), 2)
  const isNotA = (key: string): boolean => key !== 'a'
  t.same([queue.next(isNotA), queue.next(isNotA)], ['b1', undefined])
  t.equal(queue.size, 2)
  t.same([queue.next(), queue.next()], ['a1', 'a2'])
  t.same([queue.count('a'), queue.size], [0, 0])
})

t.test('all items of a key can be removed', async (t) => {
  const queue = createFairQueue<string, number>()
  queue.add('a', 1)
  queue.add('b', 2)
  queue.add('a', 3)
  t.same(queue.keys(), ['a', 'b'])
  t.same(queue.removeAll('a'), [1, 3])
  t.same(queue.removeAll('a'), [])
  t.equal(queue.size, 1)
  t.same(queue.take(5), [2])
  t.same(queue.keys(), [])
})

t.test('every item leaves once, in the order of its key', async () => {
  const step = fc.oneof(
    fc.record({ add: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ take: fc.integer({ min: 0, max: 5 }) }),
    fc.constant({ next: true }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = createFairQueue<string, { key: string; number: number }>()
      const left: { key: string; number: number }[] = []
      let number = 0
      for (const one of steps) {
        if ('add' in one) queue.add(one.add, { key: one.add, number: (number += 1) })
        else if ('take' in one) left.push(...queue.take(one.take))
        else left.push(...[queue.next()].filter((item) => item !== undefined))
      }
      left.push(...queue.take(1_000))
      const numbersOf = (key: string): number[] =>
        left.filter((item) => item.key === key).map((item) => item.number)
      return (
        left.length === number &&
        queue.size === 0 &&
        ['a', 'b', 'c'].every((key) => {
          const numbers = numbersOf(key)
          return numbers.every((one, i) => i === 0 || one > numbers[i - 1]!)
        })
      )
    }),
  )
})
