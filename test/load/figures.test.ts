import t from 'tap'
import { linesOf, type Counts } from './system_under_test/accounts.js'
import { spikeFindings } from './spike.js'
import { createAwaited } from './scenarios/webhook_wait.js'
import { createWorkloadMix } from './scenarios/workload_mix.js'
import { aWindow } from './report/results.js'
import { COMPLETED, NOTHING_ACKNOWLEDGED, type Scenario } from './scenarios/scenario.js'
import { slopeOf, slopesOf } from './measurement/slopes.js'

const NONE: Counts = {
  intents: {},
  payouts: {},
  events: { settled: 0, open: 0 },
  poolEvents: 0,
  deliveries: {},
  deliveredTo: {},
  executed: 0,
}
const ENDPOINT = { id: 'we_1' }
const AFTER: Counts = {
  ...NONE,
  intents: { created: 3, captured: 2 },
  payouts: { completed: 4, processing: 1 },
  events: { settled: 10, open: 2 },
  poolEvents: 12,
  deliveries: { delivered: 5, waiting: 1 },
  deliveredTo: { we_1: 5 },
  executed: 6,
}
const CLAIMS = {
  acknowledged: { intents: 5, payouts: 5, samples: [] },
  unknown: 0,
  endpoints: [ENDPOINT],
  seen: [{ came: 6, answered: 5, faults: 0 }],
}

t.test('what adds up holds, and every line can fail', (t) => {
  const wrong = (after: Partial<Counts>, claims: Partial<typeof CLAIMS> = {}): string[] =>
    linesOf(NONE, { ...AFTER, ...after }, { ...CLAIMS, ...claims })
      .filter(({ holds }) => !holds)
      .map(({ what }) => what)
  t.same(wrong({}), [])
  t.same(wrong({ intents: { created: 2, captured: 2 } }), ['accepted = there'])
  t.same(wrong({ intents: { created: 4, captured: 2 } }), ['accepted = there'])
  t.same(wrong({ intents: { created: 4, captured: 2 } }, { unknown: 1 }), [])
  t.same(wrong({ intents: { created: 2, captured: 2, lost: 1 } }), ['there = ended + open'])
  t.same(wrong({ executed: 7 }), ['paid = executed by the rail'])
  t.same(wrong({ poolEvents: 11 }), ['events = known to the pool'])
  t.same(wrong({ deliveries: { delivered: 5, odd: 1 } }), [
    'deliveries = delivered + dead + pending',
  ])
  t.same(wrong({ deliveredTo: { we_1: 6 } }), ['delivered = answered, endpoint 1'])
  t.same(wrong({}, { seen: [{ came: 6, answered: 5, faults: 1 }] }), [
    'wrong signatures at receivers',
  ])
  t.end()
})

t.test('growth is the slope of what came after the first third', (t) => {
  t.equal(slopeOf([[0, 5]]), 0)
  t.ok(Math.abs(slopeOf([[0, 1], [10, 3], [20, 5]]) - 0.2) < 1e-9) // prettier-ignore
  const [sample] = aWindow().samples
  const samples = Array.from({ length: 31 }, (_, minute) => ({
    ...sample!,
    at: minute * 60_000,
    rssMiB: { processor: minute < 10 ? 50 * minute : 500 + minute },
    handles: { processor: 40 },
  }))
  const [growth] = slopesOf(samples)
  t.match(growth, { name: 'processor', handlesPerHour: 0 })
  t.ok(Math.abs((growth?.rssMiBPerHour ?? 0) - 60) < 1e-6)
  t.end()
})

t.test('a spike is told by what was refused, given up and how soon it was over', (t) => {
  const intervalSample = (at: number, p99: number, accepted = 100, failed = 0, givenUp = 0) => ({
    at,
    perSecond: accepted,
    failedPerSecond: failed,
    givenUpPerSecond: givenUp,
    p50: 1,
    p90: 1,
    p99,
    max: 1,
    p99FromSent: p99 / 2,
    clientDelay: p99 / 10,
  })
  const intervalSamples = [
    ...[intervalSample(250, 10), intervalSample(500, 10), intervalSample(750, 12)],
    ...[intervalSample(1_000, 80, 100, 250, 150), intervalSample(1_250, 90, 100, 250, 150)],
    ...[
      intervalSample(1_500, 40, 100, 0, 10),
      intervalSample(1_750, 30),
      intervalSample(2_000, 15),
    ],
  ]
  const stretches = [11, 88, 40].map((p99) => ({ ...aWindow().latency, p99 }))
  const findings = spikeFindings(
    aWindow({ intervalSamples, stretches }),
    { from: 750, to: 1_250 },
    200,
  )
  const value = (name: string) => findings.find((one) => one.name === name)?.value
  t.equal(value('asked for in the spike'), 500)
  t.equal(value('refused at once'), 0.5)
  t.equal(value('gave up waiting for a connection'), 0.3)
  t.equal(value('p99 before, from due'), 10)
  t.equal(value('p99 before, from sent'), 5)
  t.equal(value('p99 of the accepted, from due, at worst'), 90)
  t.equal(value('p99 of the accepted, from sent, at worst'), 45)
  t.equal(value('p99 of the accepted, from sent, median'), 42.5)
  t.equal(value('in times of that before'), 8.5)
  t.equal(value('p99 of all before, from sent'), 11)
  t.equal(value('p99 of all accepted, from sent'), 88)
  t.equal(value('in times of all before'), 8)
  t.equal(value('of it the client itself, median'), 8.5)
  t.equal(value('recovered after'), 750)
  t.end()
})

t.test('reports may come before the answer that names its entity', (t) => {
  const awaited = createAwaited()
  t.equal(awaited.hear('pi_1'), undefined)
  t.ok(awaited.wait(3, 'pi_1'))
  t.notOk(awaited.wait(4, 'pi_2'))
  t.equal(awaited.hear('pi_2'), 4)
  t.equal(awaited.hear('pi_2'), undefined, 'a repeated webhook ends nothing')
  t.notOk(awaited.wait(5, 'pi_3'))
  awaited.abandon(5)
  t.equal(awaited.hear('pi_3'), undefined)
  t.end()
})

t.test('a mixture keeps its proportions, and each connection its part', (t) => {
  const began = { a: 0, b: 0 }
  const part = (name: 'a' | 'b'): Scenario => ({
    prepare: () => undefined,
    last: () => undefined,
    begin: () => {
      began[name] += 1
      return Buffer.from(name)
    },
    proceed: () => (name === 'a' ? COMPLETED : { kind: 'failed', code: name }),
    hear: () => undefined,
    abandon: () => undefined,
    acknowledged: () => NOTHING_ACKNOWLEDGED,
  })
  const workloadMix = createWorkloadMix(2, [
    { weight: 3, scenario: part('a') },
    { weight: 1, scenario: part('b') },
  ])
  for (let round = 1; round <= 10; round += 1) {
    for (let turn = 0; turn < 4; turn += 1) {
      const begun = workloadMix.begin(turn % 2)?.toString()
      const next = workloadMix.proceed(turn % 2, { status: 200, body: Buffer.alloc(0) })
      t.equal(Buffer.isBuffer(next) ? '' : next.kind, begun === 'a' ? 'completed' : 'failed')
    }
    t.same(began, { a: 3 * round, b: round })
  }
  t.end()
})
