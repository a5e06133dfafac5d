import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { latencyMs } from './latency.js'
import type { News, Pulse, Tally } from './load.js'
import { runWindow, type Watch, type Window } from './window.js'
import {
  COMPLETED,
  NOTHING_ACKNOWLEDGED,
  unexpected,
  WAITING,
  type Scenario,
} from '../scenarios/scenario.js'

const LANES = 8
const NOTHING = (): void => undefined
const QUIET: Watch = { begun: NOTHING, opened: NOTHING, closed: NOTHING, pulse: NOTHING }
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
    lanes: LANES,
    schedule: undefined,
    leadInMs: 20,
    measureMs: 200,
  }
}

/** One request a journey; 200 is what it expects. */
function single(supply = Infinity): Scenario {
  let left = supply
  return {
    prepare: NOTHING,
    last: NOTHING,
    begin: () => (left-- > 0 ? REQUEST : undefined),
    proceed: (_lane, answer) => (answer.status === 200 ? COMPLETED : unexpected(answer)),
    hear: () => undefined,
    abandon: NOTHING,
    acknowledged: () => NOTHING_ACKNOWLEDGED,
  }
}

const at = (ratePerSecond: number): Window['schedule'] => [{ ms: Infinity, ratePerSecond }]

const failures = ({ failed }: Tally): number =>
  Object.values(failed).reduce((sum, count) => sum + count, 0)

t.test('a closed loop keeps every lane busy and forgets nothing', async (t) => {
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
  const tally = await runWindow(window, single(), {
    ...QUIET,
    begun: () => void told.push('begun'),
    opened: () => void told.push('opened'),
    closed: () => void told.push('closed'),
  })
  t.same(told, ['begun', 'opened', 'closed'])
  t.equal(most, LANES)
  t.equal(tally.sent, asked)
  t.equal(tally.answered, asked)
  t.equal(tally.completed, asked)
  t.equal(tally.begun, asked)
  t.same(tally.failed, {})
  t.ok(tally.completedInWindow > 0 && tally.completedInWindow < asked, 'the lead-in is left out')
  t.ok(tally.seconds >= 0.199)
  t.ok(latencyMs(tally.latencies).p50 >= 1)
})

t.test('a journey of several requests counts once, from its first to its last', async (t) => {
  const window = await serve(t, (_request, response) => {
    setTimeout(() => response.end('{}'), 5)
  })
  const steps = new Map<number, number>()
  const tally = await runWindow(
    window,
    {
      ...single(),
      proceed: (lane) => {
        const step = ((steps.get(lane) ?? 0) + 1) % 3
        steps.set(lane, step)
        return step === 0 ? COMPLETED : REQUEST
      },
    },
    QUIET,
  )
  t.ok(tally.completed > 0)
  t.equal(tally.completed, tally.begun)
  t.equal(tally.sent, 3 * tally.begun)
  t.ok(latencyMs(tally.latencies).p50 >= 12, 'three times 5 ms, less what timers are early')
})

t.test('refusals are counted by code and have no latency', async (t) => {
  const window = await serve(t, (_request, response) => {
    response.statusCode = 503
    response.end('{"error":{"code":"configuration_error"}}')
  })
  const tally = await runWindow(window, single(50), QUIET)
  t.same(tally.failed, { '503 configuration_error': 50 })
  t.equal(tally.completed, 0)
  t.equal(tally.latencies.count, 0)
})

t.test('a connection that breaks loses its request, and is opened again', async (t) => {
  let asked = 0
  const window = await serve(t, (request, response) => {
    asked += 1
    if (asked % 10 === 0) request.socket.destroy()
    else response.end('{}')
  })
  const tally = await runWindow(window, single(200), QUIET)
  t.equal(asked, 200)
  t.equal(tally.sent, 200)
  t.equal(tally.answered, 180)
  t.same(tally.failed, { connection_lost: 20 })
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
    lanes: LANES,
    schedule: undefined,
    leadInMs: 1,
    measureMs: 60_000,
  }
  const tally = await runWindow(window, single(), QUIET)
  t.ok((tally.failed['connection_lost'] ?? 0) > 0)
  t.equal(tally.begun, tally.completed + failures(tally))
})

t.test('what is never answered is told', async (t) => {
  let asked = 0
  const window = await serve(t, (_request, response) => {
    asked += 1
    if (asked > 5) return
    response.end('{}')
  })
  const tally = await runWindow(window, single(), QUIET, 50)
  t.equal(tally.answered, 5)
  t.same(tally.failed, { unanswered: LANES })
  t.equal(tally.sent, 5 + LANES)
})

t.test('a supply that is used up ends the window early', async (t) => {
  const window = await serve(t, (_request, response) => response.end('{}'))
  const tally = await runWindow({ ...window, measureMs: 60_000 }, single(300), QUIET)
  t.equal(tally.completed, 300)
  t.ok(tally.seconds < 60)
})

t.test('an open loop times a stall as the callers would feel it', async (t) => {
  let stalledUntil = 0
  const window = await serve(t, (_request, response) => {
    setTimeout(() => response.end('{}'), Math.max(0, stalledUntil - performance.now()))
  })
  const tally = await runWindow({ ...window, schedule: at(400), measureMs: 400 }, single(), {
    ...QUIET,
    opened: () => {
      stalledUntil = performance.now() + 150
    },
  })
  t.equal(tally.overdue, 0)
  t.equal(tally.completed, tally.begun)
  t.ok(tally.begun >= 165, 'as many as were due, stall or not')
  // Some 60 were due in the stall, on 8 lanes: timed from their sending, only 8 would be slow.
  const share = 1 - 40 / tally.latencies.count
  t.ok(tally.latencies.percentile(100 * share) > 20_000, 'the 40th slowest too')
})

t.test('an open loop that can not be kept says so', async (t) => {
  const window = await serve(t, (_request, response) => {
    setTimeout(() => response.end('{}'), 100)
  })
  const tally = await runWindow({ ...window, schedule: at(2_000) }, single(), QUIET, 100)
  t.ok(tally.overdue > 100)
})

t.test('whoever has patience gives up, and is counted', async (t) => {
  const window = await serve(t, (_request, response) => {
    setTimeout(() => response.end('{}'), 100)
  })
  const schedule = at(1_000)
  const tally = await runWindow({ ...window, schedule, patienceMs: 50 }, single(), QUIET)
  t.ok(tally.givenUp > 50)
  t.equal(tally.overdue, 0)
  t.equal(tally.completed, tally.begun)
})

t.test('the rate follows the stretches of the schedule', async (t) => {
  const window = await serve(t, (_request, response) => response.end('{}'))
  const pulses: Pulse[] = []
  const schedule = [
    { ms: 200, ratePerSecond: 100 },
    { ms: Infinity, ratePerSecond: 1_000 },
  ]
  const tally = await runWindow(
    { ...window, schedule, leadInMs: 200, measureMs: 300, pulseMs: 50 },
    single(),
    { ...QUIET, pulse: (pulse) => void pulses.push(pulse) },
  )
  t.ok(tally.begun >= 310 && tally.begun <= 330, `${tally.begun} of 320`)
  const told = pulses.reduce((sum, { completed }) => sum + completed, 0)
  t.ok(told > 100 && told <= tally.completed, 'pulses tell what was completed until the end')
  const times = pulses.map((pulse) => pulse.at)
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
  const pulses: Pulse[] = []
  const tally = await runWindow({ ...window, schedule: at(4_000), pulseMs: 40 }, single(), {
    ...QUIET,
    pulse: (pulse) => void pulses.push(pulse),
  })
  const connectionMs = 20
  t.ok(latencyMs(tally.refusals).p50 >= 8, '10 ms, less what timers are early')
  t.equal(tally.refusals.count, tally.refusalsFromDue.count)
  t.ok(latencyMs(tally.refusalsFromDue).mean > latencyMs(tally.refusals).mean + connectionMs)
  const last = pulses.at(-1)
  t.ok(last !== undefined && last.ownDelay > 0)
  t.ok(latencyMs(last!.latenciesFromSent).p50 >= 8)
  t.ok(latencyMs(last!.latencies).mean > latencyMs(last!.latenciesFromSent).mean + connectionMs)
})

t.test('a journey that waits for news ends with it, and is timed until it', async (t) => {
  const window = await serve(t, (_request, response) => response.end('{}'))
  let listen: (news: News) => void = NOTHING
  const tell = (lane: number): void => {
    const entities = [String(lane)]
    setTimeout(() => listen({ at: performance.timeOrigin + performance.now(), entities }), 20)
  }
  const tally = await runWindow(
    window,
    {
      ...single(),
      proceed: (lane) => {
        tell(lane)
        return WAITING
      },
      hear: Number,
    },
    { ...QUIET, news: (listener) => (listen = listener) },
  )
  t.ok(tally.completed > LANES, 'lanes go on')
  t.equal(tally.completed, tally.begun)
  t.ok(latencyMs(tally.latencies).p50 >= 18, '20 ms, less what timers are early')
})

t.test('news that never comes fails its journey', async (t) => {
  const window = await serve(t, (_request, response) => response.end('{}'))
  const tally = await runWindow(window, { ...single(), proceed: () => WAITING }, QUIET, 50)
  t.equal(tally.answered, LANES)
  t.same(tally.failed, { no_webhook: LANES })
})
