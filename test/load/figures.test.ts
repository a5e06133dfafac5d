/** Figures of a run and its report: accounts, faults, spikes, comparisons, growth, dead rows. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tempFolder } from '../support/temp_folder.js'
import { accountLines, type Counts } from './accounts.js'
import { pairRatios, storeFindings } from './bench.js'
import { createLatencies, latencyMs, recordMs } from './client/latency.js'
import type { Summary } from './client/load.js'
import { deadRowFindings, growthFindings, heapFindings, slopeOf, startHeaps } from './long_load.js'
import { faultsOf, type SampleResult, type WindowResult } from './measured_window.js'
import { spikeFindings } from './open_loop.js'
import { report } from './report.js'
import {
  finding,
  isMet,
  loadOfShards,
  type Finding,
  type RunResult,
  type Section,
} from './result.js'
import { memoryFindings, scaleFindings } from './scale.js'
import { COMPLETED, type Scenario } from './scenarios/scenario.js'
import { createWorkloadMix } from './scenarios/scenarios.js'

const LATENCY = { ...latencyMs(createLatencies()), count: 1_000, p50: 18.04, p99: 40.06, max: 61.2 }

const aWindow = (given: Partial<WindowResult> = {}): WindowResult => ({
  ...{ side: 'service', repeat: 1, seconds: 10, ratePerSecond: 15_000, perCommit: 90 },
  subscribedShare: Number.NaN,
  ...{
    latency: LATENCY,
    operations: {},
    isOpenLoop: false,
    phases: [],
    rejections: LATENCY,
    arrivals: undefined,
    shards: [],
  },
  journeys: { begun: 200_000, completed: 199_990, overdue: 0, abandoned: 0 },
  errors: { '503 configuration_error': 10 },
  cpuMicros: { gateway: { main: 27.3, others: 1 }, client: { main: 0.1, others: 12 } },
  ...{ rssMiB: { gateway: 113, client: 160 }, elsewhere: 0.02, samples: [], resources: [] },
  ...given,
})

const values = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ name, value }) => [name, value]))

t.test('a load on a cluster has figures of each shard, and their balance', async (t) => {
  const shards = [
    { shard: 'books_1', processor: 'processor-3', commandsPerSecond: 400, perCommit: 5 },
    { shard: 'books_2', processor: 'processor-2', commandsPerSecond: 100, perCommit: 2 },
  ].map((each) => ({ ...each, partners: ['load-1'] }))
  const cpuMicros = { 'processor-3': { main: 40, others: 10 } }
  t.same(values(loadOfShards([aWindow({ shards, cpuMicros, ratePerSecond: 1_000 })], 'both')), {
    'both, books_1, commands': 400,
    'both, books_1, commands in a commit': 5,
    'both, books_1, cores used by processor-3': 0.05,
    'both, books_2, commands': 100,
    'both, books_2, commands in a commit': 2,
    'both, books_2, cores used by processor-2': 0,
    'both, least / most commands of a shard': 0.25,
  })
  t.same(loadOfShards([aWindow()]), [], 'none without a cluster')
})

t.test('accounts that do not add up are reported, line by line', async (t) => {
  const none: Counts = {
    ...{ intents: {}, payouts: {}, events: { settled: 0, open: 0 } },
    ...{ subscribedEvents: 0, poolEvents: 0 },
    ...{ deliveries: {}, deliveredTo: {}, executed: 0 },
  }
  const after: Counts = {
    ...{ intents: { created: 3, captured: 2 }, payouts: { completed: 4, processing: 1 } },
    ...{ events: { settled: 10, open: 2 } },
    ...{ subscribedEvents: 6, poolEvents: 6, executed: 6 },
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
  t.same(wrong({ poolEvents: 5 }), ['subscribed events = stored by the pool'])
  const odd = { delivered: 5, odd: 1 }
  t.same(wrong({ deliveries: odd }), ['deliveries = delivered + dead + pending'])
  t.same(wrong({ deliveredTo: { we_1: 6 } }), ['delivered = answered, endpoint 1'])
  t.same(wrong({}, 0, 1), ['invalid webhooks at receivers'])
})

t.test('an unexpected answer is a fault of a strict window', async (t) => {
  const latencies = createLatencies()
  recordMs(latencies, 5)
  const summary: Summary = {
    ...{ sent: 10, answered: 10, begun: 10, completed: 10, completedInWindow: 8 },
    ...{ overdue: 0, abandoned: 0, failed: {}, seconds: 1, latencies, rejections: latencies },
    operations: {},
  }
  t.same(faultsOf(summary, { strict: true }), [])
  t.equal(faultsOf({ ...summary, completed: 9 }, {}).length, 1, 'a lost journey')
  const late = { ...summary, completedInWindow: 0 }
  t.equal(faultsOf(late, {}).length, 1)
  t.same(faultsOf(late, { isWarmUp: true }), [], 'no figure of a warm-up counts')
  const none = { ...late, begun: 0, completed: 0 }
  t.equal(faultsOf(none, { isWarmUp: true }).length, 1)
  const rejected = { ...summary, completed: 8, failed: { '503': 2 } }
  t.same([faultsOf(rejected, { strict: true }), faultsOf(rejected, {})], [['2 × 503'], []])
  t.equal(faultsOf({ ...summary, answered: 9, overdue: 1 }, { strict: true }).length, 2)
})

t.test('a spike is reported with its rejections and recovery time', async (t) => {
  const sample = (at: number, p99: number, given: Partial<SampleResult> = {}): SampleResult => ({
    ...{ at, offeredPerSecond: 100, perSecond: 100, failedPerSecond: 0, abandonedPerSecond: 0 },
    ...{ p50: p99, p99, p999: p99, p99FromSent: p99 / 2, clientDelayMs: p99 / 10, ...given },
  })
  const flood = { failedPerSecond: 250, abandonedPerSecond: 150 }
  const samples = [
    ...[sample(250, 10), sample(500, 10), sample(750, 12)],
    ...[sample(1_000, 80, flood), sample(1_250, 90, flood)],
    ...[sample(1_500, 40, { abandonedPerSecond: 10 }), sample(1_750, 30), sample(2_000, 15)],
  ]
  const phases = [11, 88, 40].map((p99) => ({ ...LATENCY, p99 }))
  const spike = { from: 750, to: 1_250 }
  t.match(values(spikeFindings(aWindow({ samples, phases }), spike, 200)), {
    ...{ 'demand in the spike': 500, 'share rejected': 0.5, 'recovered after': 750 },
    ...{ 'share that got no connection in 1 s': 0.3, 'p99 before, from sent': 5 },
    ...{ 'p99 in the spike, from sent, median': 42.5, 'spike / before': 8.5 },
    ...{ 'spike / before, of all': 8, "the client's own delay, median": 8.5 },
  })
})

/** `main` of the processor and `others` of the PostgreSQL server: CPU of a journey. */
function aSide(side: string, repeat: number, main: number, others = 0, given = {}): WindowResult {
  const cpuMicros = {
    'gateway-1': { main: 20, others: 0 },
    processor: { main, others: 10 },
    postgres: { main: 0, others },
    client: { main: 1_000, others: 1_000 },
  }
  return aWindow({ side, repeat, cpuMicros, rssMiB: { processor: main }, ...given })
}
const p99Of = (p99: number) => ({ latency: { ...LATENCY, p99 } })

t.test('sides are compared by medians of windows, revisions by pairs of windows', async (t) => {
  const small = [10, 12, 11].map((p99) => aSide('small', 1, 50, 0, p99Of(p99)))
  const [first, second] = [
    aSide('large', 1, 60, 0, p99Of(11)),
    aSide('large', 1, 60, 0, p99Of(500)),
  ]
  const large = [first, second, aSide('large', 1, 600, 0, p99Of(12))]
  const compared = scaleFindings([...small, ...large], 'read')
  t.match(values(compared), {
    'p99, large / small': 12 / 11, // one bad window has no effect
    'CPU of the gateway, large / small': 1,
    'CPU a read, large / small': 90 / 80, // without the client
  })
  const cpu = compared.find(({ name }) => name === 'CPU a read, large / small')
  t.ok(cpu && isMet(cpu))
  const dear = scaleFindings([aSide('small', 1, 50), aSide('large', 1, 90)], 'create')
  t.same(dear.filter((one) => isMet(one) === false).length, 1, 'a create that costs more')
  const memory = memoryFindings([aSide('small', 1, 50), aSide('large', 1, 513)])
  t.same(memory.map(isMet), [undefined, false])

  const pairs = [aSide('base', 1, 50, 0, p99Of(10)), aSide('head', 1, 50, 0, p99Of(20))]
  const more = [aSide('head', 2, 50, 0, p99Of(5)), aSide('base', 2, 50, 0, p99Of(10))]
  const name = 'p99, head / base'
  t.match(values(pairRatios([...pairs, ...more], ['base', 'head'])), {
    ...{ [name]: 1.25, [`${name}, least of 2`]: 0.5, [`${name}, greatest of 2`]: 2 },
  })
})

t.test('stores are compared by pairs of windows, with targets', async (t) => {
  const rate = (ratePerSecond: number) => ({ ratePerSecond })
  const compared = storeFindings([
    ...[aSide('SQLite', 1, 40, 0, rate(100)), aSide('PostgreSQL', 1, 35, 30, rate(80))],
    ...[aSide('PostgreSQL', 2, 50, 30, rate(35)), aSide('SQLite', 2, 50, 0, rate(50))],
  ])
  t.match(values(compared), {
    ...{ 'rate, PostgreSQL / SQLite': 0.75, 'rate, PostgreSQL / SQLite, least of 2': 0.7 },
    'CPU of the processor, PostgreSQL / SQLite': 0.95,
    'CPU of the PostgreSQL server a journey': 30,
    'CPU a journey, PostgreSQL / SQLite, greatest of 2': 110 / 80, // without the client
  })
  t.same(compared.map(isMet).filter(Boolean).length, 2)
})

t.test('dead rows are checked in large tables only', async (t) => {
  const table = (name: string, live: number, dead: number) => {
    return { table: name, live, dead, vacuums: 1, bytes: 1_048_576 }
  }
  const found = deadRowFindings([
    [table('books_1.outbox', 10, 5_000), table('books_1.intents', 10_000, 30_000)],
    [table('books_1.outbox', 10, 0), table('books_1.intents', 40_000, 1_000)],
  ])
  t.match(values(found), {
    'dead rows, largest share (books_1.intents)': 0.75,
    ...{ 'dead rows at the end': 1_000, 'vacuums by autovacuum': 2 },
    'tables and indexes at the end': 2,
  })
  t.equal(found[0] && isMet(found[0]), false)
})

t.test('growth over a long load has a verdict', async (t) => {
  /** A sample a minute. */
  const verdicts = (minutes: number, of: (minute: number) => readonly [number, number]) => {
    const samples = Array.from({ length: minutes + 1 }, (_, minute) => {
      const [mib, files] = of(minute)
      const by = (value: number) => ({ processor: value, client: value })
      return { at: minute * 60_000, rssMiB: by(mib), openFiles: by(files) }
    })
    return growthFindings(samples).slice(0, 3).map(isMet)
  }
  t.ok(Math.abs(slopeOf([[0, 1], [10, 3], [20, 5]]) - 0.2) < 1e-9) // prettier-ignore
  t.equal(slopeOf([[0, 5]]), 0)
  const flat = verdicts(60, (minute) => [200 + minute * 0.2 + (minute % 2) * 8, 40])
  t.same(flat, [true, true, undefined], 'the client has no verdict')
  const grown = verdicts(60, (minute) => [200 + minute * 0.5, 40 + minute / 10])
  t.same(grown, [false, false, undefined])
  t.equal(verdicts(60, (minute) => [Math.min(minute, 20) * 20, 10])[0], true, 'the first third')
  t.equal(verdicts(30, (minute) => [100, minute < 20 ? 10 : 11])[1], true, 'one file more')
  t.equal(verdicts(30, (minute) => [100, minute < 20 ? 10 : 13])[1], false, 'three files more')
  t.equal(verdicts(12, (minute) => [100 + 10 * minute, 10])[0], undefined, 'too short to judge')
})

t.test('what a collection leaves has a verdict, from what the program recorded', async (t) => {
  const folder = tempFolder(t)
  const heaps = startHeaps(folder, 60_000)
  t.match(
    heaps.settings.NODE_OPTIONS,
    /^--import=file:.+heap_recorder\.js\?folder=.+every_ms=60000$/,
  )
  const from = 1_000_000
  const record = (pid: number, mib: (minute: number) => number): void => {
    const minutes = Array.from({ length: 31 }, (_, minute) => minute - 1)
    const lines = minutes.map((minute) =>
      JSON.stringify({ at: from + minute * 60_000, bytes: mib(minute) * 1_048_576 }),
    )
    writeFileSync(join(folder, `${pid}.heap`), `${lines.join('\n')}\n`)
  }
  // Garbage that V8 leaves is not in it; 1,000 MiB before the load do not count.
  record(1, (minute) => (minute < 0 ? 1_000 : 100 + (minute % 2)))
  record(2, (minute) => 100 + 0.4 * minute)
  const watched = [1, 2, 3].map((pid) => ({ name: `process ${pid}`, pid }))
  const [flat, grown, ...more] = heapFindings(heaps.read(watched, from))
  t.same(more, [], 'a program of others records none')
  t.equal(flat?.name, 'process 1: in use after a collection')
  t.equal(flat && isMet(flat), true)
  t.equal(grown && isMet(grown), false)
  t.ok(Math.abs((grown?.value ?? 0) - 24) < 0.001, 'MiB an hour')
})

const aRun = (section: Partial<Section> = {}, given: Partial<RunResult> = {}): RunResult => {
  const machine = { cpu: 'a processor', cores: 2, memoryMiB: 8_000, node: 'v20', kernel: '6.1' }
  const line = { what: 'accepted = stored', left: 10, right: 10, holds: true }
  return {
    ...{ kind: 'bench', startedAt: '2026-11-21T05:30:12.000Z', voidBecause: [] },
    machine: { ...machine, fileSystem: 'ext4', fsyncMicros: 400 },
    settings: { load: 'closed loop, 512 connections' },
    sections: [
      {
        title: 'signed durable creates of intents',
        windows: [aWindow()],
        findings: [
          finding('rate', 15_000, '/s', { atLeast: 15_000 }),
          finding('service / ceiling', 0.75, '', { atLeast: 0.8 }),
        ],
        accounts: { lines: [line], audit: 'audit clean: 43 checks over 100 rows', faults: [] },
        ...section,
      },
    ],
    ...given,
  }
}

t.test(
  'a run is reported with its machine, settings, windows, findings and accounts',
  async (t) => {
    const text = report(aRun())
    const lines = [
      ...[
        /bench, 2026-11-21T05:30:12/,
        /a processor, 2 cores.*v20/,
        /closed loop, 512 connections/,
      ],
      /service 1 +15,000 +18\.0 +40\.1 +61\.2 +199,990 +10 +90\.0 +2 %/,
      ...[/service 1: 10 × 503 configuration_error/, /gateway +27\.3 +1\.0 +113/],
      /rate +15,000 \/s +target: at least 15,000 \/s, met/,
      /service \/ ceiling +0\.75 +target: at least 0\.8, NOT met/,
      ...[/accepted = stored +10 +10 +adds up\n/, /Everything adds up\.$/],
    ]
    for (const line of lines) t.match(text, line)
  },
)

t.test('a void run and a busy machine are reported', async (t) => {
  const text = report(aRun({}, { voidBecause: ['creates, service 1: 3 × 503'] }))
  t.match(text, /void: these figures do not count\.\n {2}creates, service 1: 3 × 503$/)
  t.match(report(aRun({ windows: [aWindow({ elsewhere: 0.4 })] })), /not quiet/)
})

t.test('never, a tiny and a missing figure are shown differently', async (t) => {
  const findings = [
    finding('recovered after', Infinity, 'ms'),
    finding('not completed', 1 / 1_500, '', { atMost: 0 }),
    finding('files', -1e-12, '/h'),
    finding('ratio', Number.NaN, '×', { atMost: 1.2 }),
  ]
  const text = report(aRun({ findings }))
  t.match(text, /recovered after +never$/m)
  t.match(text, /not completed +0\.0007 +target: at most 0, NOT met/)
  t.match(text, /files +-?0\.00 \/h/)
  t.match(text, /ratio +none +target: at most 1\.2 ×, NOT met/)
})

t.test('a mix keeps its proportions, and an answer goes to its own part', async (t) => {
  const begun = { a: 0, b: 0 }
  const part = (name: 'a' | 'b'): Scenario => ({
    prepare: () => undefined,
    operation: () => name,
    begin: () => {
      begun[name] += 1
      return Buffer.from(name)
    },
    proceed: () => (name === 'a' ? COMPLETED : { kind: 'failed', code: name }),
  })
  const [a, b] = [part('a'), part('b')]
  const mix = createWorkloadMix([{ weight: 3, scenario: a }, ...[{ weight: 1, scenario: b }]])
  for (let round = 1; round <= 10; round += 1) {
    for (let turn = 0; turn < 4; turn += 1) {
      const asked = mix.begin(turn % 2)?.toString()
      const next = mix.proceed(turn % 2, { status: 200, body: Buffer.alloc(0) })
      t.equal(Buffer.isBuffer(next) ? '' : next.kind, asked === 'a' ? 'completed' : 'failed')
      t.equal(mix.operation(turn % 2), asked)
    }
    t.same(begun, { a: 3 * round, b: round })
  }
})
