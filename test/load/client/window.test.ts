import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { latencyMs } from './latency.js'
import type { WebhookReport, IntervalSample, Summary } from './load.js'
import { runWindow, type Watch, type Window } from './window.js'
import {
  COMPLETED,
  NOTHING_ACKNOWLEDGED,
  unexpected,
  WAITING,
  type Scenario,
} from '../scenarios/scenario.js'

const CONNECTIONS = 8
const NOTHING = (): void => undefined
const QUIET: Watch = { begun: NOTHING, opened: NOTHING, closed: NOTHING, intervalSample: NOTHING }
const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: test\r\n\r\n')

async function serve(t: Test, listener: RequestListener): Promise<Window> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    address: { host: '127.0.0.1', port },
    connections: CONNECTIONS,
    schedule: undefined,
    leadInMs: 20,
    measureMs: 200,
  }
}

/** One request a journey; 200 is what it expects. */
function single(presigned = Infinity): Scenario {
  let left = presigned
  return {
    prepare: NOTHING,
    last: NOTHING,
    begin: () => (left-- > 0 ? REQUEST : undefined),
    proceed: (_connection, answer) => (answer.status === 200 ? COMPLETED : unexpected(answer)),
    hear: () => undefined,
    abandon: NOTHING,
    acknowledged: () => NOTHING_ACKNOWLEDGED,
  }
}

const at = (ratePerSecond: number): Window['schedule'] => [{ ms: Infinity, ratePerSecond }]

const failures = ({ failed }: Summary): number =>
  Object.values(failed).reduce((sum, count) => sum + count, 0)

t.test('a closed loop keeps every connection busy and forgets nothing', async (t) => {
  let open = 0
  let most = 0
  let asked = 0
  const window = await serve(t, (_request, response) => {
    asked += 1
    open += 1
    most = Math.max(most, open)
    setTimeout(() => {
      open -= 1
      response.end('{}')
    }, 2)
  })
  const told: string[] = []
  const summary = await runWindow(window, single(), {
    ...QUIET,
    begun: () => void told.push('begun'),
    opened: () => void told.push('opened'),
    closed: () => void told.push('closed'),
  })
  t.same(told, ['begun', 'opened', 'closed'])
  t.equal(most, CONNECTIONS)
  t.equal(summary.sent, asked)
  t.equal(summary.answered, asked)
  t.equal(summary.completed, asked)
  t.equal(summary.begun, asked)
  t.same(summary.failed, {})
  t.ok(
    summary.completedInWindow > 0 && summary.completedInWindow < asked,
    'the lead-in is left out',
  )
  t.ok(summary.seconds >= 0.199)
  t.ok(latencyMs(summary.latencies).p50 >= 1)
})

t.test('a journey of several requests counts once, from its first to its last', async (t) => {
  const window = await serve(t, (_request, response) => {
    setTimeout(() => response.end('{}'), 5)
  })
  const steps = new Map<number, number>()
  const summary = await runWindow(
    window,
    {
      ...single(),
      proceed: (connection) => {
        const step = ((steps.get(connection) ?? 0) + 1) % 3
        steps.set(connection, step)
        return step === 0 ? COMPLETED : REQUEST
      },
    },
    QUIET,
  )
  t.ok(summary.completed > 0)
  t.equal(summary.completed, summary.begun)
  t.equal(summary.sent, 3 * summary.begun)
  t.ok(latencyMs(summary.latencies).p50 >= 12, 'three times 5 ms, less what timers are early')
})

t.test('refusals are counted by code and have no latency', async (t) => {
  const window = await serve(t, (_request, response) => {
    response.statusCode = 503
    response.end('{"error":{"code":"configuration_error"}}')
  })
  const summary = await runWindow(window, single(50), QUIET)
  t.same(summary.failed, { '503 configuration_error': 50 })
  t.equal(summary.completed, 0)
  t.equal(summary.latencies.count, 0)
})

t.test('a connection that breaks loses its request, and is opened again', async (t) => {
  let asked = 0
  const window = await serve(t, (request, response) => {
    asked += 1
    if (asked % 10 === 0) request.socket.destroy()
    else response.end('{}')
  })
  const summary = await runWindow(window, single(200), QUIET)
  t.equal(asked, 200)
  t.equal(summary.sent, 200)
  t.equal(summary.answered, 180)
  t.same(summary.failed, { connection_lost: 20 })
})

t.test('when the server is gone the window ends', async (t) => {
  let asked = 0
  const server = createServer((_request, response) => {
    asked += 1
    if (asked < 20) {
      response.end('{}')
      return
    }
    server.close()
    server.closeAllConnections()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const window: Window = {
    address: { host: '127.0.0.1', port },
    connections: CONNECTIONS,
    schedule: undefined,
    leadInMs: 1,
    measureMs: 60_000,
  }
  const summary = await runWindow(window, single(), QUIET)
  t.ok((summary.failed['connection_lost'] ?? 0) > 0)
  t.equal(summary.begun, summary.completed + failures(summary))
})

t.test('what is never answered is told', async (t) => {
  let asked = 0
  const window = await serve(t, (_request, response) => {
    asked += 1
    if (asked > 5) return
    response.end('{}')
  })
  const summary = await runWindow(window, single(), QUIET, 50)
  t.equal(summary.answered, 5)
  t.same(summary.failed, { unanswered: CONNECTIONS })
  t.equal(summary.sent, 5 + CONNECTIONS)
})

t.test('a supply that is used up ends the window early', async (t) => {
  const window = await serve(t, (_request, response) => response.end('{}'))
  const summary = await runWindow({ ...window, measureMs: 60_000 }, single(300), QUIET)
  t.equal(summary.completed, 300)
  t.ok(summary.seconds < 60)
})

t.test('an open loop times a stall as the callers would feel it', async (t) => {
  let stalledUntil = 0
  const window = await serve(t, (_request, response) => {
    setTimeout(() => response.end('{}'), Math.max(0, stalledUntil - performance.now()))
  })
  const summary = await runWindow({ ...window, schedule: at(400), measureMs: 400 }, single(), {
    ...QUIET,
    opened: () => {
      stalledUntil = performance.now() + 150
    },
  })
  t.equal(summary.overdue, 0)
  t.equal(summary.completed, summary.begun)
  t.ok(summary.begun >= 165, 'as many as were due, stall or not')
  // Some 60 were due in the stall, on 8 connections: timed from their sending, only 8 would be
  // slow.
  const share = 1 - 40 / summary.latencies.count
  t.ok(summary.latencies.percentile(100 * share) > 20_000, 'the 40th slowest too')
})

t.test('an open loop that cannot be kept says so', async (t) => {
  const window = await serve(t, (_request, response) => {
    setTimeout(() => response.end('{}'), 100)
  })
  const summary = await runWindow({ ...window, schedule: at(2_000) }, single(), QUIET, 100)
  t.ok(summary.overdue > 100)
})

t.test('whoever has patience gives up, and is counted', async (t) => {
  const window = await serve(t, (_request, response) => {
    setTimeout(() => response.end('{}'), 100)
  })
  const schedule = at(1_000)
  const summary = await runWindow({ ...window, schedule, patienceMs: 50 }, single(), QUIET)
  t.ok(summary.givenUp > 50)
  t.equal(summary.overdue, 0)
  t.equal(summary.completed, summary.begun)
})

t.test('the rate follows the stretches of the schedule', async (t) => {
  const window = await serve(t, (_request, response) => response.end('{}'))
  const intervalSamples: IntervalSample[] = []
  const schedule = [
    { ms: 200, ratePerSecond: 100 },
    { ms: Infinity, ratePerSecond: 1_000 },
  ]
  const summary = await runWindow(
    { ...window, schedule, leadInMs: 200, measureMs: 300, intervalMs: 50 },
    single(),
    { ...QUIET, intervalSample: (intervalSample) => void intervalSamples.push(intervalSample) },
  )
  t.ok(summary.begun >= 310 && summary.begun <= 330, `${summary.begun} of 320`)
  const told = intervalSamples.reduce((sum, { completed }) => sum + completed, 0)
  t.ok(told > 100 && told <= summary.completed, 'samples tell what was completed until the end')
  const times = intervalSamples.map((intervalSample) => intervalSample.at)
  t.same(
    times,
    times.toSorted((one, other) => one - other),
  )
})

t.test('the wait for a connection is told apart from the wait for the answer', async (t) => {
  let asked = 0
  const window = await serve(t, (_request, response) => {
    response.statusCode = ++asked % 2 === 0 ? 200 : 503
    setTimeout(() => response.end('{}'), 10)
  })
  const intervalSamples: IntervalSample[] = []
  const summary = await runWindow({ ...window, schedule: at(4_000), intervalMs: 40 }, single(), {
    ...QUIET,
    intervalSample: (intervalSample) => void intervalSamples.push(intervalSample),
  })
  const connectionMs = 20
  t.ok(latencyMs(summary.refusals).p50 >= 8, '10 ms, less what timers are early')
  t.equal(summary.refusals.count, summary.refusalsFromDue.count)
  t.ok(latencyMs(summary.refusalsFromDue).mean > latencyMs(summary.refusals).mean + connectionMs)
  const last = intervalSamples.at(-1)
  t.ok(last !== undefined && last.clientDelay > 0)
  t.ok(latencyMs(last!.latenciesFromSent).p50 >= 8)
  t.ok(latencyMs(last!.latencies).mean > latencyMs(last!.latenciesFromSent).mean + connectionMs)
})

t.test('a journey that waits for reports ends with it, and is timed until it', async (t) => {
  const window = await serve(t, (_request, response) => response.end('{}'))
  let listen: (webhookReports: WebhookReport) => void = NOTHING
  const tell = (connection: number): void => {
    const entities = [String(connection)]
    setTimeout(() => listen({ at: performance.timeOrigin + performance.now(), entities }), 20)
  }
  const summary = await runWindow(
    window,
    {
      ...single(),
      proceed: (connection) => {
        tell(connection)
        return WAITING
      },
      hear: Number,
    },
    { ...QUIET, webhookReports: (listener) => (listen = listener) },
  )
  t.ok(summary.completed > CONNECTIONS, 'connections go on')
  t.equal(summary.completed, summary.begun)
  t.ok(latencyMs(summary.latencies).p50 >= 18, '20 ms, less what timers are early')
})

t.test('reports that never comes fails its journey', async (t) => {
  const window = await serve(t, (_request, response) => response.end('{}'))
  const summary = await runWindow(window, { ...single(), proceed: () => WAITING }, QUIET, 50)
  t.equal(summary.answered, CONNECTIONS)
  t.same(summary.failed, { no_webhook: CONNECTIONS })
})
