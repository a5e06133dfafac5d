import { hash } from 'node:crypto'
import t from 'tap'
import fc from 'fast-check'
import { createKeyIndex, printOf } from '../../src/processor/memory/key_index.js'

const word = fc.integer({ min: 0, max: 2 ** 32 - 1 })

void t.test('agrees with a map, collisions included', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ high: fc.oneof(word, fc.constant(7)), low: fc.nat({ max: 40 }) })),
      (prints) => {
        const index = createKeyIndex()
        const model = new Map<string, number[]>()
        for (const [sequence, print] of prints.entries()) {
          index.add(print, sequence)
          const key = `${print.high} ${print.low}`
          model.set(key, [...(model.get(key) ?? []), sequence])
        }
        return prints.every((print) => {
          const expected = model.get(`${print.high} ${print.low}`) ?? []
          return [...index.candidates(print)].sort().join() === [...expected].sort().join()
        })
      },
    ),
  )
})

void t.test('what was not added is not found', async (t) => {
  const index = createKeyIndex()
  index.add({ high: 1, low: 1 }, 5)
  t.same(index.candidates({ high: 1, low: 2 }), [])
  t.same(index.candidates({ high: 2, low: 1 }), [])
  t.same(index.candidates({ high: 1, low: 1 }), [5])
})

void t.test('an exchange keeps the last one, and tells the one before', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ high: fc.oneof(word, fc.constant(7)), low: fc.nat({ max: 40 }) })),
      (prints) => {
        const index = createKeyIndex()
        const model = new Map<string, number>()
        return prints.every((print, sequence) => {
          const key = `${print.high} ${print.low}`
          const before = model.get(key)
          model.set(key, sequence)
          return (
            index.exchange(print, sequence) === before &&
            index.candidates(print).join() === String(sequence) &&
            index.size === model.size
          )
        })
      },
    ),
  )
})

void t.test('16 to 24 bytes a key', async (t) => {
  const index = createKeyIndex()
  for (let i = 0; i < 300_000; i++) {
    const rowKey = hash('sha256', String(i), 'base64url').slice(0, 22)
    index.add(printOf(rowKey), i)
  }
  const each = index.bytes / index.size
  t.ok(each >= 16 && each <= 25, `${each}`)
  const rowKey = hash('sha256', '123456', 'base64url').slice(0, 22)
  t.same(index.candidates(printOf(rowKey)), [123_456])
})
