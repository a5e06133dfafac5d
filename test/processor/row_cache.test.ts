/** The row cache: staged rows, prefetches, eviction. */
import t from 'tap'
import { createWriteBackCache } from '../../src/processor/cache/row_cache.js'

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
