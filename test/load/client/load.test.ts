/** The load loop on scripted connections and a manual clock, and on real connections. */
import { createServer } from 'node:http'
import t from 'tap'
import { listen } from '../../support/listen.js'
import { COMPLETED, unexpected, type Scenario } from '../scenarios/scenario.js'
import type { Phase } from './arrival_schedule.js'
import { runWindow } from './client_thread.js'
import { latencyMs } from './latency.js'
import { createLoad, type Load, type Sample } from './load.js'

const CONNECTIONS = 8
const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: test\r\n\r\n')

/** One request a journey; 200 completes it. */
function single(supply = Infinity): Scenario {
  let left = supply
  return {
    prepare: () => undefined,
    operation: () => 'single',
    begin: () => (left-- > 0 ? REQUEST : undefined),
    proceed: (_connection, response) =>
      response.status === 200 ? COMPLETED : unexpected(response),
  }
}

/** The scripted answer of a request: a status after a delay, 0 to break the connection, or none. */
type Answer = readonly [afterMs: number, status: number] | undefined

const DEFAULTS = {
  scenario: single(),
  ...{ phases: undefined as readonly Phase[] | undefined, patienceMs: Infinity },
  ...{ leadInMs: 20, measureMs: 200, drainMs: 1_000 },
  answer: (_index: number, _now: number): Answer => [5, 200],
  each: (_load: Load, _now: number): void => undefined,
}

/** A window on a manual clock that advances by single milliseconds. */
async function simulate(given: Partial<typeof DEFAULTS> = {}) {
  const options = { ...DEFAULTS, ...given }
  const { scenario, leadInMs, measureMs, drainMs, answer, each } = options
  const due: { at: number; deliver: () => void }[] = []
  let now = 0
  let requests = 0
  const target = { addresses: [{ host: '', port: 0 }], connections: CONNECTIONS }
  const load = createLoad({ ...options, ...target }, scenario, {
    now: () => now,
    connect: async (_address, { answered, lost }) => {
      const send = (): void => {
        const [afterMs = Infinity, status = 0] = answer((requests += 1), now) ?? []
        const body = Buffer.from('{"error":{"code":"configuration_error"}}')
        const deliver = (): void => (status ? answered({ status, body }) : lost('connection_lost'))
        due.push({ at: now + afterMs, deliver })
      }
      return { send, close: () => undefined }
    },
  })
  await load.connect()
  load.start()
  for (; now <= leadInMs + measureMs + drainMs; now += 1) {
    if (now === leadInMs) load.measure()
    if (now === leadInMs + measureMs) load.finish()
    const ready = due.filter(({ at }) => at <= now)
    for (const one of ready) due.splice(due.indexOf(one), 1)
    for (const { deliver } of ready) deliver()
    load.fill()
    each(load, now)
    await Promise.resolve() // a broken connection is opened again
  }
  return load.close()
}

const at = (ratePerSecond: number): readonly Phase[] => [{ ms: Infinity, ratePerSecond }]
const after =
  (ms: number, status = 200) =>
  (): Answer => [ms, status]

t.test('a closed loop keeps every connection busy and counts every journey', async (t) => {
  const { sent, answered, begun, completed, failed, ...summary } = await simulate()
  t.same([answered, begun, completed], [sent, sent, sent])
  t.equal(sent, CONNECTIONS * 44, 'one every 5 ms on each connection, for 220 ms')
  t.equal(summary.completedInWindow, CONNECTIONS * 40, 'the lead-in does not count')
  t.equal(summary.latencies.count, CONNECTIONS * 40)
  t.equal(summary.operations['single']?.count, CONNECTIONS * 40)
  t.same([failed, summary.seconds], [{}, 0.2])
  t.equal(Math.round(latencyMs(summary.latencies).p50), 5)
})

t.test('a journey of several requests counts once, from its first to its last', async (t) => {
  const steps = Array<number>(CONNECTIONS).fill(0)
  const proceed = (connection: number) => ((steps[connection]! += 1) % 3 ? REQUEST : COMPLETED)
  const scenario = { ...single(), proceed }
  const { sent, begun, completed, latencies } = await simulate({ scenario })
  t.same([completed, sent], [begun, 3 * begun])
  t.equal(Math.round(latencyMs(latencies).p50), 15)
})

t.test('rejections are counted by code and have a latency of their own', async (t) => {
  const summary = await simulate({ answer: after(10, 503), phases: at(2_000) })
  t.same(Object.keys(summary.failed), ['503 configuration_error'])
  t.same([summary.completed, summary.latencies.count], [0, 0])
  const { max } = latencyMs(summary.rejections)
  t.equal(Math.round(max), 10, 'from the send time: without the wait for a connection')
})

t.test('a connection that breaks fails its request and is opened again', async (t) => {
  const answer = (index: number): Answer => [1, index % 10 === 0 ? 0 : 200]
  const { sent, answered, failed } = await simulate({ scenario: single(200), answer })
  t.same([sent, answered, failed], [200, 180, { connection_lost: 20 }])
})

t.test('unanswered requests are reported', async (t) => {
  const answer = (index: number): Answer => (index > 5 ? undefined : [1, 200])
  const { sent, answered, failed } = await simulate({ answer })
  t.same([sent, answered, failed], [5 + CONNECTIONS, 5, { unanswered: CONNECTIONS }])
})

t.test('an open loop includes a stall in the latency', async (t) => {
  const afterMs = (now: number): number => (now >= 100 && now < 200 ? 200 - now : 1)
  const answer = (_index: number, now: number): Answer => [afterMs(now), 200]
  const summary = await simulate({ answer, phases: at(400), measureMs: 380 })
  t.same([summary.begun, summary.completed, summary.overdue], [160, 160, 0], 'all due journeys')
  // 40 were due in the stall, on 8 connections: timed from sent, only 8 would be slow.
  const share = 100 * (1 - 30 / summary.latencies.count)
  t.ok(summary.latencies.percentile(share) > 20_000, 'the 30th slowest took more than 20 ms')
})

t.test('an open loop that cannot be kept is reported', async (t) => {
  const { overdue, begun } = await simulate({ answer: after(100), phases: at(2_000), drainMs: 0 })
  t.same([begun, overdue], [24, 440 - 24], 'eight every 100 ms')
})

t.test('a caller without a connection gives up and is counted', async (t) => {
  const given = { answer: after(100), phases: at(1_000), patienceMs: 50 }
  const { abandoned, overdue, begun, completed } = await simulate(given)
  t.ok(abandoned > 50)
  t.same([overdue, completed, begun + abandoned], [0, begun, 220])
})

t.test('the rate follows the phases of the schedule, and samples show it', async (t) => {
  const samples: Sample[] = []
  const each = (load: Load, now: number): void => {
    if (now > 0 && now <= 500 && now % 50 === 0) samples.push(load.sample(0))
  }
  const phases = [{ ms: 200, ratePerSecond: 100 }, ...at(1_000)]
  const given = { phases, answer: after(1), each, leadInMs: 200, measureMs: 300 }
  const { begun, completedInWindow } = await simulate(given)
  t.equal(begun, 20 + 300)
  t.equal(completedInWindow, 299, 'the last journey completes after the end')
  const completed = samples.map((sample) => sample.completed)
  t.same(completed, [5, 5, 5, 5, 50, 50, 50, 50, 50, 50])
  const due = samples.map((sample) => sample.due)
  t.same([due.reduce((sum, one) => sum + one, 0), due[8]], [begun, 50], 'all that were due')
})

t.test('a journey ends with its webhook, which may arrive early, late or never', async (t) => {
  let journeys = 0
  let told = 0
  const proceed = () => ({ kind: 'awaits_webhook' as const, entity: String((journeys += 1)) })
  const each = (load: Load, now: number): void => {
    if (now % 25 !== 0 || now > 150) return
    const entities = Array.from({ length: 4 }, () => String((told += 1)))
    load.webhooks({ at: performance.timeOrigin + now, entities })
  }
  const summary = await simulate({ scenario: { ...single(), proceed }, drainMs: 100, each })
  t.ok(summary.completed > CONNECTIONS, 'connections continue')
  t.same(summary.failed, { no_webhook: CONNECTIONS })
  t.equal(summary.begun, summary.completed + CONNECTIONS)
})

t.test('a window on real connections survives broken ones and a stopped server', async (t) => {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    if (requests % 10 === 0) request.socket.destroy()
    else response.end('{}')
    if (requests < 200) return
    server.close()
    server.closeAllConnections()
  })
  const port = await listen(t, server)
  const window = {
    ...{ addresses: [{ host: '127.0.0.1', port }], connections: CONNECTIONS, phases: undefined },
    ...{ leadInMs: 0, measureMs: 60_000, sampleMs: 1_000, notices: 'none' },
  }
  let edges = 0
  const observer = { edge: () => void (edges += 1), sample: () => undefined }
  const { begun, completed, failed } = await runWindow(window, single(), observer)
  const { connection_lost: lost = 0 } = failed
  t.equal(edges, 2)
  t.ok(lost >= 20)
  t.equal(begun, completed + lost)
})
