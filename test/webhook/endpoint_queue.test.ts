/** The queue of an endpoint: circuit breaker, rate, concurrency, loading. */
import t from 'tap'
import { DAY, HOUR, instant, plus, SECOND } from '../../src/base/clock.js'
import {
  afterFailure,
  CLOSED,
  isOpen,
  mayProbe,
} from '../../actors/webhook/endpoint/circuit_breaker.js'
import {
  recordOutcome,
  UNCHANGED,
  type AttemptOutcome,
  type HealthChange,
} from '../../actors/webhook/endpoint/endpoint_health.js'
import {
  ALL_QUEUES_MAX,
  dueOnDisk,
  ENDPOINT_QUEUE_MAX,
  mayLoad,
  mayStart,
  mayTake,
  newEndpointQueue,
  release,
  spend,
  resetHealth,
  unload,
  type EndpointQueue,
} from '../../actors/webhook/endpoint/endpoint_queue.js'
import type { SendOutcome } from '../../actors/webhook/delivery/send_outcome.js'
import { aDelivery, anEndpoint, anEventRow } from './builders.js'

const NOW = instant(1_790_000_000_000)
const PROBE_MS = 60 * SECOND
const PROBES = { everyMs: PROBE_MS, newEveryMs: 5 * SECOND }

function aQueue(changes: Partial<EndpointQueue> = {}): EndpointQueue {
  const endpoint = anEndpoint()
  return { ...newEndpointQueue(endpoint.id, null, 0), endpoint, running: true, ...changes }
}

const someDeliveries = (count: number) =>
  Array.from({ length: count }, () => aDelivery(anEventRow({ receivedAt: NOW }), anEndpoint()))

t.test('the breaker opens with the tenth failure in a row', async (t) => {
  let breaker = CLOSED
  for (let failure = 1; failure <= 9; failure++) breaker = afterFailure(breaker, NOW, PROBE_MS)
  t.notOk(isOpen(breaker))
  breaker = afterFailure(breaker, NOW, PROBE_MS)
  t.ok(isOpen(breaker))
  t.notOk(mayProbe(breaker, plus(NOW, PROBE_MS - 1)))
  t.ok(mayProbe(breaker, plus(NOW, PROBE_MS)))
  breaker = afterFailure(breaker, plus(NOW, PROBE_MS), PROBE_MS)
  t.notOk(mayProbe(breaker, plus(NOW, PROBE_MS)), 'the next probe is a minute later')
})

t.test('due deliveries on disk go before a new one', async (t) => {
  const delivery = aDelivery(anEventRow({ receivedAt: NOW }), anEndpoint())
  t.ok(mayTake(aQueue(), delivery, 0))
  t.notOk(mayTake(aQueue({ dueOnDisk: NOW }), delivery, 0), 'it waits on disk behind them')
  t.ok(mayTake(aQueue({ dueOnDisk: plus(NOW, 1) }), delivery, 0))
  t.notOk(mayTake(aQueue({ running: false }), delivery, 0))
})

t.test('a queue takes half of the memory that all queues leave free', async (t) => {
  const delivery = aDelivery(anEventRow({ receivedAt: NOW }), anEndpoint())
  const takes = (waiting: number, inAll: number): boolean =>
    mayTake(aQueue({ waiting: new Array<typeof delivery>(waiting) }), delivery, inAll)
  t.ok(takes(199, ALL_QUEUES_MAX - 400))
  t.notOk(takes(200, ALL_QUEUES_MAX - 400))
  t.ok(takes(ENDPOINT_QUEUE_MAX - 1, ALL_QUEUES_MAX), 'and some where none is free')
  t.notOk(takes(ENDPOINT_QUEUE_MAX, ALL_QUEUES_MAX))
})

t.test("an endpoint is called at its rate; a second's worth may leave at once", async (t) => {
  const endpointQueue = aQueue({ waiting: someDeliveries(1), gapMs: 100 })
  const leave = (at: number): number => {
    let left = 0
    for (; mayStart(endpointQueue, instant(at)) && left < 100; left += 1)
      spend(endpointQueue, instant(at))
    return left
  }
  t.equal(leave(NOW), 10)
  t.equal(leave(NOW + 99), 0)
  t.equal(leave(NOW + 100), 1)
  t.equal(leave(NOW + 700), 6)
  t.equal(leave(NOW + 60_000), 10, 'the burst does not grow')
})

t.test('a clock that is set back stops neither attempts nor probes', async (t) => {
  const before = instant(NOW + HOUR)
  const endpointQueue = aQueue({ waiting: someDeliveries(1), gapMs: 100 })
  while (mayStart(endpointQueue, before)) spend(endpointQueue, before)
  t.notOk(mayStart(endpointQueue, NOW), 'the rate is exhausted')
  let left = 0
  for (let at = NOW; at <= NOW + SECOND; at = plus(at, 50)) {
    for (; mayStart(endpointQueue, at); left += 1) spend(endpointQueue, at)
  }
  t.equal(left, 10, 'attempts continue at the rate')

  const failed = afterFailure({ ...CLOSED, failures: 9 }, before, PROBE_MS)
  Object.assign(endpointQueue, { breaker: failed, dueOnDisk: plus(before, DAY) })
  t.ok(mayStart(endpointQueue, NOW), 'one probe')
  t.ok(mayLoad({ ...endpointQueue, waiting: [] }, NOW))
  endpointQueue.breaker = afterFailure(endpointQueue.breaker, NOW, PROBE_MS)
  t.notOk(mayStart(endpointQueue, plus(NOW, PROBE_MS - 1)))
  t.ok(mayStart(endpointQueue, plus(NOW, PROBE_MS)), 'the next one a minute later')
})

t.test('concurrency limits the attempts in flight', async (t) => {
  const queue = someDeliveries(10)
  const starts = (changes: Partial<EndpointQueue>): boolean =>
    mayStart(aQueue({ waiting: queue, ...changes }), NOW)
  t.ok(starts({}))
  t.notOk(starts({ waiting: [] }))
  t.notOk(starts({ running: false }))
  t.notOk(starts({ inFlight: 1 }), 'one at a new endpoint')
  t.ok(starts({ concurrency: 4, inFlight: 3 }))
  t.notOk(starts({ concurrency: 4, inFlight: 4 }))
  const open = { failures: 10, openUntil: NOW }
  t.ok(starts({ breaker: open }))
  t.notOk(starts({ breaker: open, inFlight: 1 }))
  t.notOk(starts({ breaker: { failures: 10, openUntil: plus(NOW, 1) } }))
})

t.test('deliveries are loaded when due and when there is capacity', async (t) => {
  const loads = (changes: Partial<EndpointQueue>): boolean =>
    mayLoad(aQueue({ dueOnDisk: NOW, ...changes }), NOW)
  t.ok(loads({}))
  t.notOk(loads({ dueOnDisk: null }))
  t.notOk(loads({ dueOnDisk: plus(NOW, 1) }))
  t.notOk(loads({ dueOnDisk: plus(NOW, 1.2 * DAY) }), 'the longest pause')
  t.ok(loads({ dueOnDisk: plus(NOW, 3 * DAY) }), 'the clock was ahead')
  t.notOk(loads({ loading: true }))
  t.notOk(loads({ running: false }))
  t.notOk(loads({ waiting: someDeliveries(ENDPOINT_QUEUE_MAX) }))
  const open = { failures: 10, openUntil: NOW }
  t.ok(loads({ breaker: open, dueOnDisk: plus(NOW, DAY) }), 'a probe may be early')
  t.notOk(loads({ breaker: open, inFlight: 1 }))
})

t.test('unloading drops every waiting delivery from memory', async (t) => {
  const queue = someDeliveries(3)
  const endpointQueue = aQueue({
    waiting: queue,
    held: new Set(queue.map(({ id }) => id)),
    loading: true,
  })
  dueOnDisk(endpointQueue, plus(NOW, 5))
  t.equal(unload(endpointQueue), 3)
  t.same(endpointQueue.waiting, [])
  t.equal(endpointQueue.held.size, 0)
  t.equal(endpointQueue.dueOnDisk, NOW, 'the due time of the first one')
  t.equal(
    endpointQueue.releasedDuringLoad.size,
    3,
    'a load in progress must not return the old deliveries',
  )
  endpointQueue.loading = false
  release(endpointQueue, queue[0]!.id)
  t.equal(endpointQueue.releasedDuringLoad.size, 3)
})

const answered = (kind: SendOutcome['kind'], late = false): AttemptOutcome => ({
  kind,
  status: kind === 'delivered' ? 200 : 503,
  reason: '',
  late,
})
const promptly = (kind: SendOutcome['kind']): AttemptOutcome => answered(kind)

t.test('an outcome updates tier, breaker and failing since', async (t) => {
  const endpointQueue = aQueue()
  t.same(recordOutcome(endpointQueue, promptly('retry'), NOW, PROBES), {
    failing: [{ endpointId: endpointQueue.endpointId, since: NOW, failedAt: NOW }],
    noLongerFailing: [],
    disable: null,
  })
  t.equal(endpointQueue.tier, 'slow')
  t.equal(endpointQueue.breaker.failures, 1)
  t.same(
    recordOutcome(endpointQueue, promptly('permanent'), plus(NOW, 1), PROBES).failing,
    [],
    'failing since the first',
  )
  t.equal(endpointQueue.tier, 'fast', 'a 4xx is an answer')
  t.same(endpointQueue.breaker, CLOSED)
  const recovered = recordOutcome(endpointQueue, promptly('delivered'), plus(NOW, 2), PROBES)
  t.same(recovered, { failing: [], noLongerFailing: [endpointQueue.endpointId], disable: null })
  t.same(
    recordOutcome(endpointQueue, promptly('delivered'), plus(NOW, 3), PROBES).noLongerFailing,
    [],
  )
  t.equal(recordOutcome(endpointQueue, promptly('gone'), plus(NOW, 4), PROBES).disable, 'gone')
})

t.test('before the first answer the breaker opens for seconds only', async (t) => {
  const refused = { kind: 'retry', status: null, reason: 'ECONNREFUSED', late: false } as const
  const failTenTimes = (endpointQueue: EndpointQueue, answer: AttemptOutcome): void => {
    for (let i = 0; i < 10; i++) recordOutcome(endpointQueue, answer, NOW, PROBES)
  }
  const pauseOf = ({ breaker }: EndpointQueue): number => (breaker.openUntil ?? NOW) - NOW
  const endpointQueue = aQueue()
  failTenTimes(endpointQueue, refused)
  t.equal(pauseOf(endpointQueue), 5 * SECOND)
  recordOutcome(endpointQueue, { ...refused, reason: 'timeout' }, NOW, PROBES)
  t.equal(
    pauseOf(endpointQueue),
    PROBE_MS,
    'a timeout lowers concurrency, a refused connection does not',
  )
  recordOutcome(endpointQueue, refused, NOW, PROBES)
  t.equal(pauseOf(endpointQueue), 5 * SECOND)
  recordOutcome(endpointQueue, promptly('delivered'), NOW, PROBES)
  failTenTimes(endpointQueue, refused)
  t.equal(pauseOf(endpointQueue), PROBE_MS, 'a receiver that answered before is down')
  resetHealth(endpointQueue)
  failTenTimes(endpointQueue, refused)
  t.equal(pauseOf(endpointQueue), 5 * SECOND)
  const failed = aQueue()
  failTenTimes(failed, promptly('retry'))
  failTenTimes(failed, refused)
  t.equal(pauseOf(failed), PROBE_MS, 'a 503 is an answer')
})

t.test('each answer raises concurrency by one, a failure resets it', async (t) => {
  const endpointQueue = aQueue()
  const allowed = (kind: SendOutcome['kind'], late = false): number => {
    recordOutcome(endpointQueue, answered(kind, late), NOW, PROBES)
    return endpointQueue.concurrency
  }
  t.equal(endpointQueue.concurrency, 1)
  const answers = ['delivered', 'permanent', 'delivered', 'delivered', 'delivered'] as const
  t.same(
    answers.map((kind) => allowed(kind)),
    [2, 3, 4, 4, 4],
  )
  t.equal(allowed('retry'), 1)
  t.equal(allowed('delivered', true), 2)
  t.equal(endpointQueue.tier, 'slow', 'slow tier after a slow answer')
  t.equal(allowed('delivered'), 3)
  t.equal(endpointQueue.tier, 'fast')
  resetHealth(endpointQueue)
  t.match(endpointQueue, { concurrency: 1, tier: 'unknown' })
})

/** A failure after so long. */
const failsAfter = (queue: EndpointQueue, ms: number): HealthChange =>
  recordOutcome(queue, promptly('permanent'), plus(NOW, ms), PROBES)

t.test('five days of failures without a 2xx disable the endpoint', async (t) => {
  const failing = aQueue()
  for (const after of [0, 2 * DAY, 4 * DAY, 5 * DAY - 1])
    t.equal(failsAfter(failing, after).disable, null, `after ${after} ms`)
  t.equal(failsAfter(failing, 5 * DAY).disable, 'failing')
  const lucky = aQueue()
  failsAfter(lucky, 0)
  recordOutcome(lucky, promptly('delivered'), plus(NOW, 2 * DAY), PROBES)
  for (const after of [4 * DAY, 6 * DAY]) t.equal(failsAfter(lucky, after).disable, null)
})

t.test('more than two days without an attempt are no time of failures', async (t) => {
  const quiet = aQueue()
  failsAfter(quiet, 0)
  const { endpointId } = quiet
  const at = plus(NOW, 6 * DAY)
  t.same(failsAfter(quiet, 6 * DAY), {
    ...UNCHANGED,
    failing: [{ endpointId, since: at, failedAt: at }],
  })
  for (const days of [8, 10]) t.equal(failsAfter(quiet, days * DAY).disable, null)
  t.equal(failsAfter(quiet, 11 * DAY).disable, 'failing')

  const barely = aQueue()
  failsAfter(barely, 0)
  const quietUntil = plus(NOW, 2 * DAY + 1)
  t.match(failsAfter(barely, 2 * DAY + 1).failing, [{ since: quietUntil }])

  const former = aQueue({ failingSince: NOW })
  t.equal(failsAfter(former, 5 * DAY).disable, 'failing', 'its last failure is not known')
})

t.test('the last failure is stored once an hour, and after a clock was set back', async (t) => {
  const failing = aQueue()
  const stored = (after: number) => failsAfter(failing, after).failing.map((row) => row.failedAt)
  const times = [0, 1, HOUR - 1, HOUR, HOUR + 1, -DAY]
  t.same(times.map(stored), [[NOW], [], [], [plus(NOW, HOUR)], [], [plus(NOW, -DAY)]])
  t.equal(failing.failingSince, NOW)
})
