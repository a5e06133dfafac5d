import t from 'tap'
import { createRetry } from '../../src/base/retry.js'

void t.test('delays double up to the maximum, and start anew after a success', (t) => {
  const retry = createRetry({ firstMs: 100, maxMs: 500 })
  const delays: number[] = []
  for (let i = 0; i < 5; i++) {
    delays.push(retry.delayMs)
    retry.schedule(() => t.fail('it was dropped'))
    retry.cancel()
  }
  t.same(delays, [100, 200, 400, 500, 500])
  retry.reset()
  t.equal(retry.delayMs, 100)
  t.end()
})

void t.test('an attempt is made after its delay', async (t) => {
  const retry = createRetry({ firstMs: 1, maxMs: 1 })
  await new Promise<void>((resolve) => retry.schedule(resolve))
  t.pass('made')
})
