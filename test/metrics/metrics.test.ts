/** Counters, histograms and values read at a scrape, as text. */
import t from 'tap'
import { FAMILIES, FAMILY_GROUPS } from '../../src/metrics/families.js'
import { createMetrics } from '../../src/metrics/metrics.js'

t.test('families have base units and names that say their type', async (t) => {
  for (const [name, { type, help, buckets, labels }] of Object.entries(FAMILIES)) {
    t.match(name, /^causeway_[a-z][a-z0-9_]*[a-z0-9]$/)
    t.equal(name.endsWith('_total'), type === 'counter', name)
    t.notMatch(name, /_(ms|milliseconds|minutes|hours|kb|mb|cents)(_|$)/)
    t.notMatch(name, /_(count|sum|bucket)$/, 'the endings of a histogram')
    t.equal(buckets.length > 0, type === 'histogram', name)
    t.same(
      [...buckets],
      [...buckets].sort((one, other) => one - other),
    )
    t.ok(help.length > 0 && !help.endsWith('.'), name)
    for (const label of labels) t.match(label, /^[a-z][a-z_]*$/)
  }
  const grouped = FAMILY_GROUPS.flatMap(({ names }) => names)
  t.same([...grouped].sort(), Object.keys(FAMILIES).sort(), 'each family is in exactly one group')
})

t.test('a counter starts with its first label values and adds', async (t) => {
  const metrics = createMetrics()
  const limited = metrics.counter('causeway_http_limited_total')
  t.equal(await metrics.text(), '', 'a family without samples is left out')
  limited.inc('address')
  limited.add(2, 'address')
  limited.total('in_flight').value += 1
  t.match(
    await metrics.text(),
    `# TYPE causeway_http_limited_total counter
causeway_http_limited_total{limit="address"} 3
causeway_http_limited_total{limit="in_flight"} 1
`,
  )
})

t.test('a histogram counts a value in every bucket from its bound on', async (t) => {
  const metrics = createMetrics()
  const sizes = metrics.histogram('causeway_commit_batch_commands')
  for (const size of [1, 2, 3, 6_000]) sizes.observe(size)
  t.equal(metrics.histogram('causeway_commit_batch_commands'), sizes, 'the same buckets')
  const text = await metrics.text()
  const count = (le: string) => new RegExp(`_bucket{le="${le}"} (\\d+)`).exec(text)?.[1]
  t.same([1, 2, 5, 5_000, '\\+Inf'].map(String).map(count), ['1', '2', '3', '3', '4'])
  t.match(text, 'causeway_commit_batch_commands_sum 6006\n')
  t.match(text, 'causeway_commit_batch_commands_count 4\n')
})

t.test('a family that cannot be read is left out and counted', async (t) => {
  const metrics = createMetrics()
  metrics.read('causeway_nonces', () => Promise.reject(new Error('gone')))
  metrics.read('causeway_commands_waiting', () => 7)
  metrics.read('causeway_disk_free_bytes', () => null)
  t.notMatch(await metrics.text(), /nonces|disk/)
  const again = await metrics.text()
  t.match(again, 'causeway_commands_waiting 7\n')
  t.match(again, 'causeway_metric_read_failures_total{metric="causeway_nonces"} ')
  t.throws(() => metrics.read('causeway_nonces', () => 1), /registered twice/)
})

t.test('label values are escaped', async (t) => {
  const metrics = createMetrics()
  metrics.counter('causeway_http_limited_total').inc('a "b" \\ c')
  t.match(await metrics.text(), 'limit="a \\"b\\" \\\\ c"')
})
