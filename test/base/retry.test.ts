/** Retries with exponential back-off. */
import t from 'tap'
import { createRetry } from '../../src/base/retry.js'

t.test('delays double up to the maximum, and restart after a success', async (t) => {
  const retry = createRetry({ firstMs: 100, maxMs: 500 })
  const delays: number[] = []
  for (let i = 0; i < 5; i++) {
    delays.push(retry.delayMs)
    retry.schedule(() => t.fail('a cancelled attempt must not run'))
    retry.cancel()
  }
  t.same(delays, [100, 200, 400, 500, 500])
  retry.reset()
  t.equal(retry.delayMs, 100)
})

t.test('an attempt runs after its delay', async (t) => {
  const retry = createRetry({ firstMs: 1, maxMs: 1 })
  await new Promise<void>((resolve) => retry.schedule(resolve))
  t.pass('the attempt ran')
})
