/** The order of the jobs of a run. */
import t from 'tap'
import { createJobQueue, expectedSeconds, fileOf, listJobs, testJob, testNames } from './jobs.js'

t.test('every expected duration is of a test file', async (t) => {
  const names = new Set(testNames())
  t.same(
    Object.keys(expectedSeconds()).filter((name) => !names.has(name)),
    [],
  )
})

t.test(
  'without measured durations the tests start by expected duration, longest first',
  async (t) => {
    const [first, second, ...rest] = listJobs([], ['sqlite'], {}).map(({ name }) => name)
    t.same([first, second], ['lint', 'formatting'])
    const onPostgres = listJobs([], ['postgres'], {}).map(({ name }) => name)
    const onBoth = listJobs([], ['sqlite', 'postgres'], {}).slice(2)
    t.same(
      onBoth.map(({ name }) => name).sort(),
      [...rest, ...onPostgres].sort(),
      'both stores are one queue',
    )
    for (const names of [rest, onPostgres, onBoth.map(({ name }) => name)]) {
      const seconds = names.map((name) => expectedSeconds()[fileOf({ name })] ?? 1)
      t.ok((seconds[0] ?? 0) > 20)
      t.same(
        seconds,
        [...seconds].sort((one, other) => other - one),
      )
    }
  },
)

t.test('durations measured on this machine replace expected ones', async (t) => {
  const names = listJobs([], ['sqlite'], { 'test/qr/tlv': 1_000 }).map(({ name }) => name)
  t.equal(names[2], 'test/qr/tlv')
})

t.test('the two runs of a file follow each other', async (t) => {
  const [first, twin, other] = [
    testJob('test/a', 'sqlite'),
    testJob('test/a', 'postgres'),
    testJob('test/b', 'sqlite'),
  ]
  const queue = createJobQueue([first, twin, other])
  t.same([queue.take(), queue.take(), queue.take()], [first, other, undefined])
  queue.ended(other)
  t.equal(queue.take(), undefined)
  queue.ended(first)
  t.same([queue.take(), queue.take()], [twin, undefined])
})
