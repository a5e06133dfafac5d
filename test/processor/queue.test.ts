import t from 'tap'
import type { TenantId } from '../../src/base/ids.js'
import { createFairQueue } from '../../src/processor/cycle/queue.js'

const [A, B] = ['a_sandbox' as TenantId, 'b_sandbox' as TenantId]

void t.test('no tenant fills a batch while another waits', async (t) => {
  const queue = createFairQueue<string>(1_000)
  for (let i = 0; i < 500; i++) queue.add(A, `a${i}`)
  queue.add(B, 'b0')
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

void t.test('a full queue refuses, but never the cycle itself', async (t) => {
  const queue = createFairQueue<number>(2)
  t.ok(queue.add(A, 1))
  t.ok(queue.add(B, 2))
  t.notOk(queue.add(A, 3))
  t.ok(queue.add('ours', 4))
  t.same(new Set(queue.take(10)), new Set([1, 2, 4]))
  t.same(queue.take(10), [])
})
