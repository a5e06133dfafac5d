/** Shares of a bounded resource: what one user gets, and what it leaves to the next one. */
import fc from 'fast-check'
import t from 'tap'
import { createFairShare } from '../../src/base/fair_share.js'

t.test('one user alone gets half, and each of two greedy ones a third', async (t) => {
  const alone = createFairShare<string>(128)
  while (alone.mayTake('a')) alone.take('a')
  t.equal(alone.held, 64)
  const shared = createFairShare<string>(90)
  while (shared.mayTake('a') || shared.mayTake('b')) {
    for (const user of ['a', 'b']) if (shared.mayTake(user)) shared.take(user)
  }
  t.equal(shared.held, 60)
})

t.test('what is released can be taken again', async (t) => {
  const share = createFairShare<string>(8)
  share.take('a', 4)
  t.equal(share.mayTake('a'), false)
  t.equal(share.mayTake('b', 2), true)
  t.equal(share.mayTake('b', 3), false, 'more than what then stays free')
  share.release('a', 4)
  t.equal(share.held, 0)
  t.equal(share.mayTake('a', 4), true)
})

t.test('the next user finds something, however greedy the others are', async () => {
  const MAX = 64
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 500 }), (tries) => {
      const share = createFairShare<number>(MAX)
      const users = new Set<number>()
      for (const user of tries) {
        if (!share.mayTake(user)) continue
        share.take(user)
        users.add(user)
      }
      return share.held <= MAX && (share.held === MAX || share.mayTake(-1))
    }),
  )
})
