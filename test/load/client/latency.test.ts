import fc from 'fast-check'
import t from 'tap'
import { createLatencies, latencyMs, merged, recordMs } from './latency.js'

const recorded = (values: readonly number[]) => {
  const latencies = createLatencies()
  for (const value of values) recordMs(latencies, value)
  return latencies
}

t.test('merging tells what one histogram of all would have told', (t) => {
  const elapsed = fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { maxLength: 50 })
  fc.assert(
    fc.property(fc.array(elapsed, { maxLength: 4 }), (windows) => {
      const ofAll = latencyMs(recorded(windows.flat()))
      const ofMerged = latencyMs(merged(windows.map(recorded)))
      t.same({ ...ofMerged, mean: 0 }, { ...ofAll, mean: 0 })
      t.ok(Math.abs(ofMerged.mean - ofAll.mean) <= 0.001 * ofAll.mean)
    }),
  )
  t.end()
})

t.test('the median of a slow and a fast window is that of all requests', (t) => {
  const fast = recorded(Array.from({ length: 900 }, () => 1))
  const slow = recorded(Array.from({ length: 100 }, () => 1_000))
  const { count, p50, p90, p99 } = latencyMs(merged([slow, fast]))
  t.same([count, p50, p90], [1_000, 1, 1])
  t.ok(Math.abs(p99 - 1_000) < 1, 'three figures')
  t.end()
})

t.test('times outside of the range count at its ends', (t) => {
  const { count, p50, max } = latencyMs(recorded([0, 0.0001, 10 ** 9]))
  t.same([count, p50], [3, 0.001])
  t.ok(max >= 60_000 && max < 61_000)
  t.end()
})

t.test('nothing recorded is told as nothing', (t) => {
  const { count, p50, max } = latencyMs(createLatencies())
  t.same([count, p50, max], [0, 0, 0])
  t.end()
})
