import t from 'tap'
import { createShelf } from '../../src/processor/memory/shelf.js'

void t.test('what is staged stays until it is committed', async (t) => {
  const shelf = createShelf<number>({ max: 1 })
  shelf.put('one', 1, 7)
  shelf.put('two', 2, 8)
  shelf.evict(6)
  t.equal(shelf.size, 2, 'neither is on disk')
  shelf.evict(7)
  t.equal(shelf.get('one'), undefined)
  t.equal(shelf.get('two'), 2)
})

void t.test('a prefetch never replaces what is held', async (t) => {
  const shelf = createShelf<string>({ max: 10 })
  shelf.put('key', 'new', 1)
  shelf.learn('key', 'old')
  shelf.learn('key', null)
  t.equal(shelf.get('key'), 'new')
  shelf.learn('gone', null)
  t.equal(shelf.get('gone'), null, 'known to be absent')
  t.equal(shelf.get('unknown'), undefined, 'not asked for')
})

void t.test('ended rows leave first', async (t) => {
  const shelf = createShelf<string>({ max: 2, isEnded: (value) => value === 'ended' })
  shelf.put('old', 'open', 1)
  shelf.put('done', 'ended', 1)
  shelf.put('young', 'open', 1)
  shelf.evict(1)
  t.equal(shelf.get('done'), undefined)
  t.equal(shelf.get('old'), 'open')
  shelf.learn('read', 'ended')
  shelf.evict(1)
  t.equal(shelf.get('read'), undefined, 'also when it had ended before it was read')
  t.equal(shelf.get('old'), 'open')
})
