/** Figures of the report: accounts, faults, spikes, comparisons, dead rows. */
import t from 'tap'
import { accountLines, type Counts } from './accounts.js'
import { pairRatios, storeFindings } from './bench.js'
import { createLatencies, recordMs } from './client/latency.js'
import type { Summary } from './client/load.js'
import { deadRowFindings } from './dead_rows.js'
import { faultsOf } from './measured_window.js'
import { spikeFindings } from './open_loop.js'
import { isMet, type Finding } from './result.js'
import { aSample, aWindow } from './sample_results.js'
import { memoryFindings, scaleFindings } from './scale.js'
import {
  COMPLETED,
  createWorkloadMix,
  NOTHING_ACCEPTED,
  type Scenario,
} from './scenarios/scenario.js'

const byName = (findings: readonly Finding[]) => (name: string) =>
  findings.find((one) => one.name === name)

t.test('accounts that do not add up are reported, line by line', (t) => {
  const none: Counts = {
    ...{ intents: {}, payouts: {}, events: { settled: 0, open: 0 }, poolEvents: 0 },
    ...{ deliveries: {}, deliveredTo: {}, executed: 0 },
  }
  const after: Counts = {
    ...{ intents: { created: 3, captured: 2 }, payouts: { completed: 4, processing: 1 } },
    ...{ events: { settled: 10, open: 2 }, poolEvents: 12, executed: 6 },
    ...{ deliveries: { delivered: 5, waiting: 1 }, deliveredTo: { we_1: 5 } },
  }
  const accepted = { intents: 5, payouts: 5, samples: [] }
  const wrong = (change: Partial<Counts>, unknown = 0, faults = 0): string[] => {
    const endpoints = [{ id: 'we_1', secret: '' }]
    const claims = { accepted, unknown, endpoints, received: [{ answered: 5, faults }] }
    const lines = accountLines(none, { ...after, ...change }, claims)
    return lines.filter(({ holds }) => !holds).map(({ what }) => what)
  }
  t.same(wrong({}), [])
  t.same(wrong({ intents: { created: 2, captured: 2 } }), ['accepted = stored'])
  t.same(wrong({ intents: { created: 4, captured: 2 } }), ['accepted = stored'])
  t.same(wrong({ intents: { created: 4, captured: 2 } }, 1), [], 'an answer is missing')
  t.same(wrong({ intents: { created: 2, captured: 2, odd: 1 } }), ['stored = ended + open'])
  t.same(wrong({ executed: 7 }), ['paid = executed by the rail'])
  t.same(wrong({ poolEvents: 11 }), ['events = stored by the pool'])
  const odd = { delivered: 5, odd: 1 }
  t.same(wrong({ deliveries: odd }), ['deliveries = delivered + dead + pending'])
  t.same(wrong({ deliveredTo: { we_1: 6 } }), ['delivered = answered, endpoint 1'])
  t.same(wrong({}, 0, 1), ['invalid webhooks at receivers'])
  t.end()
})

t.test('an unexpected answer is a fault of a strict window', (t) => {
  const latencies = createLatencies()
  recordMs(latencies, 5)
  const summary: Summary = {
    ...{ sent: 10, answered: 10, begun: 10, completed: 10, completedInWindow: 8 },
    ...{ overdue: 0, abandoned: 0, failed: {}, seconds: 1, latencies, rejections: latencies },
  }
  t.same(faultsOf(summary, true), [])
  t.equal(
    faultsOf({ ...summary, completed: 9 }, false).length,
    1,
    'a lost journey is a fault of every window',
  )
  t.equal(faultsOf({ ...summary, completedInWindow: 0 }, false).length, 1)
  const rejected = { ...summary, completed: 8, failed: { '503': 2 } }
  t.same([faultsOf(rejected, true), faultsOf(rejected, false)], [['2 × 503'], []])
  t.equal(faultsOf({ ...summary, answered: 9, overdue: 1 }, true).length, 2)
  t.end()
})

t.test('a spike is reported with its rejections and recovery time', (t) => {
  const flood = { failedPerSecond: 250, abandonedPerSecond: 150 }
  const sample = (at: number, p99: number, given = {}) =>
    aSample({ at, p99, p99FromSent: p99 / 2, clientDelayMs: p99 / 10, ...given })
  const samples = [
    ...[sample(250, 10), sample(500, 10), sample(750, 12)],
    ...[sample(1_000, 80, flood), sample(1_250, 90, flood)],
    ...[sample(1_500, 40, { abandonedPerSecond: 10 }), sample(1_750, 30), sample(2_000, 15)],
  ]
  const phases = [11, 88, 40].map((p99) => ({ ...aWindow().latency, p99 }))
  const found = byName(spikeFindings(aWindow({ samples, phases }), { from: 750, to: 1_250 }, 200))
  t.equal(found('demand in the spike')?.value, 500)
  t.equal(found('share rejected')?.value, 0.5)
  t.equal(found('share that got no connection in 1 s')?.value, 0.3)
  t.equal(found('p99 before, from sent')?.value, 5)
  t.equal(found('p99 in the spike, from sent, median')?.value, 42.5)
  t.equal(found('spike / before')?.value, 8.5)
  t.equal(found('spike / before, of all')?.value, 8)
  t.equal(found("the client's own delay, median")?.value, 8.5)
  t.equal(found('recovered after')?.value, 750)
  t.end()
})

t.test('sides are compared by medians of windows, revisions by pairs of windows', (t) => {
  const window = (side: string, p99: number, processor: number, repeat = 1) => {
    const cpuMicros = {
      'gateway-1': { main: 20, others: 0 },
      processor: { main: processor, others: 10 },
      client: { main: 1_000, others: 1_000 },
    }
    const latency = { ...aWindow().latency, p99 }
    return aWindow({ side, repeat, latency, cpuMicros, rssMiB: { processor } })
  }
  const small = [window('small', 10, 50), window('small', 12, 50), window('small', 11, 50)]
  const large = [window('large', 11, 60), window('large', 500, 60), window('large', 12, 600)]
  const found = byName(scaleFindings([...small, ...large], 'read'))
  t.equal(found('p99, large / small')?.value, 12 / 11, 'one bad window has no effect')
  t.equal(found('CPU of the gateway, large / small')?.value, 1)
  const cpu = found('CPU a read, large / small')
  t.equal(cpu?.value, 90 / 80, 'without the client')
  t.ok(cpu && isMet(cpu))
  const dear = scaleFindings([window('small', 10, 50), window('large', 10, 90)], 'create')
  t.same(dear.filter((one) => isMet(one) === false).length, 1, 'a create that costs more')
  const memory = memoryFindings([window('small', 1, 50), window('large', 1, 513)])
  t.same(memory.map(isMet), [undefined, false])

  const pairs = [window('base', 10, 50), window('head', 20, 50)]
  const more = [window('head', 5, 50, 2), window('base', 10, 50, 2)]
  const ratio = byName(pairRatios([...pairs, ...more], ['base', 'head']))
  t.equal(ratio('p99, head / base')?.value, 1.25)
  t.equal(ratio('p99, head / base, least of 2')?.value, 0.5)
  t.equal(ratio('p99, head / base, greatest of 2')?.value, 2)
  t.end()
})

t.test('stores are compared by pairs of windows, with targets', (t) => {
  const window = (side: string, repeat: number, rate: number, processor: number) => {
    const cpuMicros = {
      processor: { main: processor, others: 0 },
      postgres: { main: 0, others: side === 'SQLite' ? 0 : 30 },
      client: { main: 1_000, others: 0 },
    }
    return aWindow({ side, repeat, ratePerSecond: rate, cpuMicros })
  }
  const found = byName(
    storeFindings([
      ...[window('SQLite', 1, 100, 50), window('PostgreSQL', 1, 80, 45)],
      ...[window('PostgreSQL', 2, 35, 60), window('SQLite', 2, 50, 60)],
    ]),
  )
  const rate = found('rate, PostgreSQL / SQLite')
  t.equal(rate?.value, 0.75)
  t.ok(rate && isMet(rate))
  t.equal(found('rate, PostgreSQL / SQLite, least of 2')?.value, 0.7)
  const cpu = found('CPU of the processor, PostgreSQL / SQLite')
  t.equal(cpu?.value, 0.95)
  t.ok(cpu && isMet(cpu))
  t.equal(found('CPU of the PostgreSQL server a journey')?.value, 30)
  const journey = found('CPU a journey, PostgreSQL / SQLite, greatest of 2')
  t.equal(journey?.value, 1.5, 'without the client')
  t.end()
})

t.test('dead rows are checked in large tables only', (t) => {
  const table = (name: string, live: number, dead: number) => {
    return { table: name, live, dead, vacuums: 1, bytes: 1_048_576 }
  }
  const found = byName(
    deadRowFindings([
      [table('books_1.outbox', 10, 5_000), table('books_1.intents', 10_000, 30_000)],
      [table('books_1.outbox', 10, 0), table('books_1.intents', 40_000, 1_000)],
    ]),
  )
  const worst = found('dead rows, largest share (books_1.intents)')
  t.equal(worst?.value, 0.75)
  t.equal(worst && isMet(worst), false)
  t.equal(found('dead rows at the end')?.value, 1_000)
  t.equal(found('vacuums by autovacuum')?.value, 2)
  t.equal(found('tables and indexes at the end')?.value, 2)
  t.end()
})

t.test('a mix keeps its proportions, and an answer goes to its own part', (t) => {
  const begun = { a: 0, b: 0 }
  const part = (name: 'a' | 'b'): Scenario => ({
    prepare: () => undefined,
    begin: () => {
      begun[name] += 1
      return Buffer.from(name)
    },
    proceed: () => (name === 'a' ? COMPLETED : { kind: 'failed', code: name }),
    accepted: () => NOTHING_ACCEPTED,
  })
  const [a, b] = [part('a'), part('b')]
  const mix = createWorkloadMix([{ weight: 3, scenario: a }, ...[{ weight: 1, scenario: b }]])
  for (let round = 1; round <= 10; round += 1) {
    for (let turn = 0; turn < 4; turn += 1) {
      const asked = mix.begin(turn % 2)?.toString()
      const next = mix.proceed(turn % 2, { status: 200, body: Buffer.alloc(0) })
      t.equal(Buffer.isBuffer(next) ? '' : next.kind, asked === 'a' ? 'completed' : 'failed')
    }
    t.same(begun, { a: 3 * round, b: round })
  }
  t.end()
})
