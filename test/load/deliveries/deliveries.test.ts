import { join } from 'node:path'
import t from 'tap'
import { measureDeliveries, measureIsolation } from './deliveries.js'

const SETTINGS = { endpoints: 4, seconds: 0.5, outstanding: 50, poolFlags: [] }

void t.test('what is published arrives, and is counted once', async (t) => {
  const folder = join(t.testdir(), 'run')
  const result = await measureDeliveries({ ...SETTINGS, ratePerSecond: undefined }, folder)
  t.same(result.faults, [])
  t.equal(result.again, 0)
  t.ok(result.ratePerSecond > 0)
  t.ok(result.latency.p50 > 0 && result.latency.p50 <= result.latency.p95)
  t.ok(result.cpuMicros.main > 0 && result.rssMiB > 0)
})

void t.test('those that misbehave get theirs in the end', async (t) => {
  const folder = join(t.testdir(), 'run')
  const result = await measureIsolation({ ...SETTINGS, ratePerSecond: 100 }, folder)
  t.same(result.faults, [])
  t.ok(result.before.p95 > 0 && result.during.p95 > 0)
})
