/** Latency histograms. */
import fc from 'fast-check'
import t from 'tap'
import { createLatencies, latencyMs, recordMs } from './latency.js'

const recorded = (values: readonly number[]) => {
  const latencies = createLatencies()
  for (const value of values) recordMs(latencies, value)
  return latencies
}

const elapsed = fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { maxLength: 50 })
const sumIsOfAll = fc.property(elapsed, elapsed, (some, more) => {
  const sum = recorded(some)
  sum.add(recorded(more))
  const ofAll = latencyMs(recorded([...some, ...more]))
  t.same({ ...latencyMs(sum), mean: 0 }, { ...ofAll, mean: 0 }, 'a sum equals one of all values')
})
fc.assert(sumIsOfAll)

const slow = Array.from({ length: 1_000 }, (_, index) => (index < 900 ? 1 : 1_000))
const { count, p50, p90, p99 } = latencyMs(recorded(slow))
t.same([count, p50, p90], [1_000, 1, 1])
t.ok(Math.abs(p99 - 1_000) < 1, 'three significant digits')
const extremes = latencyMs(recorded([0, 0.0001, 10 ** 9]))
t.same([extremes.count, extremes.p50], [3, 0.001], 'times out of range are recorded at its ends')
t.ok(extremes.max >= 60_000 && extremes.max < 61_000)
t.match(latencyMs(createLatencies()), { count: 0, mean: 0, p50: 0, max: 0 })
