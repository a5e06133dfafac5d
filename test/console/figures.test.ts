/** The figures that the console draws: from metrics to points and lines. */
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { instant, systemClock } from '../../src/base/clock.js'
import { createFigures } from '../../src/console/figures/figures.js'
import { FAMILIES, readMetrics } from '../../src/console/figures/metrics_text.js'
import { railsOn } from '../../src/console/figures/rails.js'
import { writeFaultsOn } from '../../src/console/figures/write_faults.js'
import { pointBetween, type Reading } from '../../src/console/figures/points.js'
import { lineChart, rateText, secondsText } from '../../src/console/html/line_chart.js'
import { FAMILIES as ALL_FAMILIES } from '../../src/metrics/families.js'
import { eventually } from '../support/eventually.js'
import { listen } from '../support/listen.js'

const reading = (at: number, text: string): Reading => ({
  at: instant(at),
  processes: readMetrics(text),
})

const commits = (process: string, ...counts: readonly number[]): string =>
  ['0.001', '0.01', '+Inf']
    .map(
      (le, i) =>
        `causeway_commit_duration_seconds_bucket{le="${le}",process="${process}"} ${counts[i]}\n`,
    )
    .join('')
const created = (process: string, count: number): string =>
  `causeway_payment_transitions_total{entity="payout",state="created",corridor="vn_vnd",` +
  `environment="sandbox",process="${process}"} ${count}\n`

t.test('every family that is read exists, with its labels', async (t) => {
  for (const [name, labels] of Object.entries(FAMILIES)) {
    const declared = name.replace(/_bucket$/, '')
    const family = (
      ALL_FAMILIES as Readonly<Record<string, { readonly labels: readonly string[] }>>
    )[declared]
    t.ok(family, name)
    for (const label of labels) t.ok(label === 'le' || family?.labels.includes(label), label)
  }
})

t.test('samples are added by the labels that matter, of each process', async (t) => {
  const text =
    '# HELP causeway_command_refusals_total x\n' +
    'causeway_command_refusals_total{command="a",code="b\\"\\\\\\n",process="p"} 2\n' +
    'causeway_command_refusals_total{command="c",code="b\\"\\\\\\n",process="p"} 3\n' +
    'causeway_command_refusals_total{command="c",code="d",process="q"} 1\n' +
    'causeway_outbox_oldest_age_seconds{process="p"} NaN\nother{process="p"} 1\nbroken\n'
  const read = readMetrics(text)
  t.same([...read.keys()], ['p', 'q'])
  t.same([...read.get('p')!.get('causeway_command_refusals_total')!], [['b"\\\n', 5]])
  t.notOk(read.get('p')!.has('causeway_outbox_oldest_age_seconds'))
})

t.test('a rail is as far down as its processor that misses it longest', async (t) => {
  const page = (process: string, seconds: number): string =>
    `causeway_rail_down_seconds{rail="b",process="${process}"} ${seconds}\n` +
    `causeway_rail_instructions_total{rail="b",kind="instruct",process="${process}"} 2\n` +
    `causeway_rail_instructions_total{rail="b",kind="query",process="${process}"} 1\n` +
    `causeway_rail_reports_total{rail="a",status="executed",process="${process}"} 4\n`
  t.same(railsOn([readMetrics(page('p', 0) + page('q', 7)), readMetrics(page('r', 3))]), [
    { name: 'a', downMs: 0, instructions: 0, reports: 12 },
    { name: 'b', downMs: 7_000, instructions: 9, reports: 0 },
  ])
})

t.test('a full disk and a setting that cannot be applied keep payments from a shard', async (t) => {
  const disk = (process: string, isLow: number): string =>
    `causeway_disk_low{process="${process}"} ${isLow}\n`
  const owns = (process: string, shard: string): string =>
    `causeway_shard_epoch{shard="${shard}",owner="${process}",process="${process}"} 4\n`
  const faultsIn = (...pages: readonly string[]) => [...writeFaultsOn(pages.map(readMetrics))]
  const one = commits('processor', 1, 1, 1)
  t.same(faultsIn(one + disk('processor', 0) + disk('supervisor', 1)), [])
  t.same(faultsIn(one + disk('processor', 1)), [['', 'the disk is almost full']])
  const cluster = ['p1', 'p2'].map((name, i) => commits(name, 1, 1, 1) + owns(name, `books_${i}`))
  const behind = 'causeway_shard_settings_fault{shard="books_0",process="p2"} 1\n'
  t.same(faultsIn(cluster[0]!, cluster[1]! + disk('p2', 1) + behind), [
    ['books_0', 'a setting cannot be applied'],
    ['books_1', 'the disk is almost full'],
  ])
})

t.test('a point has rates, quantiles and refusals of the time since the last', async (t) => {
  const refused = 'causeway_command_refusals_total{command="a",code="x",process="p"} 4\n'
  const before = reading(0, commits('p', 5, 5, 5) + created('p', 10))
  const after = reading(
    5_000,
    commits('p', 7, 15, 15) +
      created('p', 20) +
      refused +
      'causeway_outbox_oldest_age_seconds{process="p"} 3\n',
  )
  const point = pointBetween(before, after)!
  t.same([...point.refusals], [['x', 4]])
  const books = point.books.get('')!
  t.match(books, { created: 2, captured: 0, paidOut: 0, outboxAge: 3 })
  t.equal(books.commits.p50?.toFixed(5), '0.00438', 'the fifth of ten, the third of eight')
  t.equal(books.commits.p99?.toFixed(5), '0.00989')
  t.same(point.calls, { p50: null, p99: null })
  t.equal(pointBetween(after, before), null, 'a clock that was set back')
})

t.test('a process that began again counts from 0; a new one has no rate yet', async (t) => {
  const before = reading(0, commits('p', 9, 9, 9) + created('p', 50))
  const again = pointBetween(before, reading(1_000, commits('p', 0, 1, 1) + created('p', 5)))!
  t.equal(again.books.get('')?.created, 5)
  const other = pointBetween(before, reading(1_000, commits('q', 5, 5, 5) + created('q', 5)))!
  t.equal(other.books.size, 0)
})

t.test('in a cluster the books are those of the shards', async (t) => {
  const shard = (process: string, name: string): string =>
    `causeway_shard_epoch{shard="${name}",owner="${process}",process="${process}"} 4\n`
  const page = (count: number): string =>
    [
      ...['1', '2'].map((i) => shard(`p${i}`, `shard_${i}`) + created(`p${i}`, count)),
      ...['p1', 'p2', 'spare'].map((name) => commits(name, 1, 1, 1)),
    ].join('')
  const point = pointBetween(reading(0, page(0)), reading(1_000, page(7)))!
  t.same([...point.books.keys()], ['shard_1', 'shard_2'])
  t.equal(point.books.get('shard_2')?.created, 7)
})

t.test('lines are interrupted, hostile names are escaped', async (t) => {
  const chart = String(
    lineChart({
      ...{ title: 'Calls', about: 'x', unit: 'seconds', from: 0, to: 60_000, gapMs: 10_000 },
      moments: [0, 10_000, 20_000, 40_000],
      lines: [
        { name: '"><svg onload=alert(1)>', values: [0.001, 0.002, null, 0.2] },
        { name: 'p99', values: [null, null, null, null] },
      ],
    }),
  )
  const paths = Array.from(chart.matchAll(/class="line[^"]*" d="([^"]*)"/g), ([, path]) => path)
  t.same(paths, ['M0.0 123.4L100.0 122.8', 'M400.0 4.0h0', '', ''])
  t.notMatch(chart, /<svg onload|style=/)
  t.match(chart, 'now 200 ms, highest 200 ms. p99: now –, highest 0 ms.')
  t.same([0, 0.004, 0.5, 12.34, 1234.5].map(rateText), [
    ...['0/s', '0/s', '0.5/s', '12.3/s', '1,235/s'],
  ])
  t.same([0, 0.00025, 0.0042, 0.25, 1.5, 200].map(secondsText), [
    ...['0 ms', '0.25 ms', '4.2 ms', '250 ms', '1.5 s', '3.3 min'],
  ])
})

/** Serves a page. @returns its port */
const servePage = (t: Test, page: () => string): Promise<number> =>
  listen(
    t,
    createServer((_request, response) => response.end(page())),
  )

t.test('a page that does not answer is missing, the others are drawn', async (t) => {
  let count = 0
  const port = await servePage(t, () => {
    count += 1
    return commits('p', count, count, count) + created('p', count)
  })
  const own = `127.0.0.1:${port}`
  const closed = '127.0.0.1:1'
  const figures = createFigures({
    ...{ addresses: [own, closed], clock: systemClock, everyMs: 20 },
  })
  t.same(figures.state(), {
    ...{ isKnown: true, missing: [], points: [], processes: [], rails: [] },
    writeFaults: new Map(),
  })
  figures.start()
  t.teardown(() => figures.stop())
  await eventually('there are points', () => Promise.resolve(figures.state().points.length > 1))
  t.same(figures.state().missing, [closed])
  t.ok((figures.state().points[0]?.books.get('')?.created ?? 0) > 0)
  t.notOk(createFigures({ addresses: [], clock: systemClock }).state().isKnown)
})

t.test('a name stands for a page at each of its addresses', async (t) => {
  const port = await servePage(t, () => created('p', 1))
  let resolved: readonly string[] | null = ['::1', '127.0.0.1']
  const resolve = (name: string): Promise<readonly string[]> => {
    t.equal(name, 'gateways')
    return resolved === null ? Promise.reject(new Error('no such name')) : Promise.resolve(resolved)
  }
  const addresses = [`gateways:${port}`]
  const figures = createFigures({ addresses, clock: systemClock, resolve, everyMs: 20 })
  figures.start()
  t.teardown(() => figures.stop())
  const read = (): readonly string[] => figures.state().processes.map(({ opsPort }) => opsPort)
  await eventually('an ops port', () => read().length > 0)
  t.same(read(), [`127.0.0.1:${port}`], 'those of IPv6 are the same processes')
  resolved = ['127.0.0.2', '127.0.0.1']
  await eventually('an address that came later', () => figures.state().missing.length > 0)
  t.same(read(), [`127.0.0.1:${port}`])
  t.same(figures.state().missing, [`127.0.0.2:${port}`])
  resolved = null
  await eventually('a name that is not resolved is missing', () => read().length === 0)
  t.same(figures.state().missing, addresses)
})
