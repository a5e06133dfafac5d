/** Steps of a large move take longer where rows are quick, and less where they are slow. */
import t from 'tap'
import { createStepScale } from '../../src/processor/cluster/step_scale.js'

const QUICK_MS = 1
const SLOW_MS = 10_000

t.test('a step takes at most twice as much as the one before, up to a bound', async (t) => {
  const scale = createStepScale()
  const sizes = Array.from({ length: 10 }, () => {
    const size = scale.of('intents')
    scale.took(QUICK_MS)
    return size
  })
  t.same(sizes.slice(0, 3), [1, 2, 4])
  t.equal(sizes.at(-1), sizes.at(-2))
})

t.test('after a slow one it takes less, but something', async (t) => {
  const scale = createStepScale()
  for (let step = 0; step < 10; step++) {
    scale.of('intents')
    scale.took(SLOW_MS)
  }
  t.ok(scale.of('intents') > 0 && scale.of('intents') < 1)
})

t.test('the next table begins with little', async (t) => {
  const scale = createStepScale()
  scale.of('intents')
  scale.took(QUICK_MS)
  t.equal(scale.of('intents'), 2)
  t.equal(scale.of('payouts'), 1)
})

t.test('sizes are few, however long the steps take', async (t) => {
  const scale = createStepScale()
  const sizes = Array.from({ length: 1_000 }, (_, step) => {
    scale.took(20 + ((step * 37) % 101))
    return scale.of('intents')
  })
  t.ok(new Set(sizes).size <= 16)
})
