/** What is kept in memory: rows, and fingerprints of idempotency keys. */
import { hash } from 'node:crypto'
import t from 'tap'
import fc from 'fast-check'
import { createWriteBackCache } from '../../src/processor/cache/row_cache.js'
import {
  createIdempotencyIndex,
  fingerprintOf,
} from '../../src/processor/cache/idempotency_index.js'

t.test('a staged row stays until it is committed', async (t) => {
  const cache = createWriteBackCache<number>({ max: 1 })
  cache.set('one', 1, 7)
  cache.set('two', 2, 8)
  cache.evict(6)
  t.equal(cache.size, 2, 'the rows are not on disk')
  cache.evict(7)
  t.equal(cache.get('one'), undefined)
  t.equal(cache.get('two'), 2)
})

t.test('a prefetch never replaces a cached row', async (t) => {
  const cache = createWriteBackCache<string>({ max: 10 })
  cache.set('key', 'new', 1)
  cache.fill('key', 'old')
  cache.fill('key', null)
  t.equal(cache.get('key'), 'new')
  cache.fill('gone', null)
  t.equal(cache.get('gone'), null, 'a negative entry')
  t.equal(cache.get('unknown'), undefined, 'not loaded')
})

t.test('ended rows are evicted first', async (t) => {
  const cache = createWriteBackCache<string>({ max: 2, isEnded: (value) => value === 'ended' })
  cache.set('old', 'open', 1)
  cache.set('done', 'ended', 1)
  cache.set('young', 'open', 1)
  cache.evict(1)
  t.equal(cache.get('done'), undefined)
  t.equal(cache.get('old'), 'open')
  cache.fill('read', 'ended')
  cache.evict(1)
  t.equal(cache.get('read'), undefined, 'also when it ended before it was loaded')
  t.equal(cache.get('old'), 'open')
})

const word = fc.integer({ min: 0, max: 2 ** 32 - 1 })

t.test('the index agrees with a map, collisions included', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ high: fc.oneof(word, fc.constant(7)), low: fc.nat({ max: 40 }) })),
      (fingerprints) => {
        const index = createIdempotencyIndex()
        const model = new Map<string, number[]>()
        for (const [sequence, fingerprint] of fingerprints.entries()) {
          index.add(fingerprint, sequence)
          const key = `${fingerprint.high} ${fingerprint.low}`
          model.set(key, [...(model.get(key) ?? []), sequence])
        }
        return fingerprints.every((fingerprint) => {
          const expected = model.get(`${fingerprint.high} ${fingerprint.low}`) ?? []
          return [...index.candidates(fingerprint)].sort().join() === [...expected].sort().join()
        })
      },
    ),
  )
})

t.test('a fingerprint that was not added is not found', async (t) => {
  const index = createIdempotencyIndex()
  index.add({ high: 1, low: 1 }, 5)
  t.same(index.candidates({ high: 1, low: 2 }), [])
  t.same(index.candidates({ high: 2, low: 1 }), [])
  t.same(index.candidates({ high: 1, low: 1 }), [5])
})

t.test('removed entries are gone, and those of one fingerprint stay', async (t) => {
  const index = createIdempotencyIndex()
  const entries = Array.from({ length: 400 }, (_, sequence) => ({
    ...{ high: (sequence % 3) << 22, low: sequence % 50, sequence },
  }))
  for (const { sequence, ...fingerprint } of entries) index.add(fingerprint, sequence)
  const gone = entries.filter(({ sequence }) => sequence % 4 === 0)
  index.removeEach(gone)
  t.equal(index.size, 300)
  for (const { sequence, ...fingerprint } of entries)
    t.equal(index.candidates(fingerprint).includes(sequence), sequence % 4 !== 0)
})

t.test('replace keeps the last sequence and returns the previous one', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ high: fc.oneof(word, fc.constant(7)), low: fc.nat({ max: 40 }) })),
      (fingerprints) => {
        const index = createIdempotencyIndex()
        const model = new Map<string, number>()
        return fingerprints.every((fingerprint, sequence) => {
          const key = `${fingerprint.high} ${fingerprint.low}`
          const before = model.get(key)
          model.set(key, sequence)
          return (
            index.replace(fingerprint, sequence) === before &&
            index.candidates(fingerprint).join() === String(sequence) &&
            index.size === model.size
          )
        })
      },
    ),
  )
})

t.test('the index takes 16 to 24 bytes per key', async (t) => {
  const index = createIdempotencyIndex()
  for (let i = 0; i < 300_000; i++) {
    const rowKey = hash('sha256', String(i), 'base64url').slice(0, 22)
    index.add(fingerprintOf(rowKey), i)
  }
  const each = index.bytes / index.size
  t.ok(each >= 16 && each <= 25, `${each}`)
  const rowKey = hash('sha256', '123456', 'base64url').slice(0, 22)
  t.same(index.candidates(fingerprintOf(rowKey)), [123_456])
})
