/** The order of the jobs of a run. */
import t from 'tap'
import { expectedSeconds, listJobs, testNames } from './jobs.js'

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
    const [first, second, ...rest] = listJobs([], 'sqlite', {}).map(({ name }) => name)
    t.same([first, second], ['lint', 'formatting'])
    const onPostgres = listJobs([], 'postgres', {}).map(({ name }) => name)
    for (const names of [rest, onPostgres]) {
      const seconds = names.map((name) => expectedSeconds()[name.replace('postgres/', '')] ?? 1)
      t.ok((seconds[0] ?? 0) > 20)
      t.same(
        seconds,
        [...seconds].sort((one, other) => other - one),
      )
    }
  },
)

t.test('durations measured on this machine replace expected ones', async (t) => {
  const names = listJobs([], 'sqlite', { 'test/qr/tlv': 1_000 }).map(({ name }) => name)
  t.equal(names[2], 'test/qr/tlv')
})
