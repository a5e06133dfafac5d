import t from 'tap'
import { DAY, HOUR, instant, plus, SECOND } from '../../src/base/clock.js'
import { afterFailure, CLOSED, isOpen, mayProbe } from '../../actors/webhook/breaker.js'
import { learn, type LaneAnswer } from '../../actors/webhook/health.js'
import {
  dueOnDisk,
  LANE_MAX,
  mayLoad,
  mayStart,
  newLane,
  release,
  spend,
  startAnew,
  unload,
  type Lane,
} from '../../actors/webhook/lane.js'
import type { SendOutcome } from '../../actors/webhook/sender.js'
import { aDelivery, anEndpoint, anEventRow } from './builders.js'

const NOW = instant(1_790_000_000_000)
const PROBE_MS = 60 * SECOND
const PROBES = { everyMs: PROBE_MS, unheardEveryMs: 5 * SECOND }

function aLane(changes: Partial<Lane> = {}): Lane {
  const endpoint = anEndpoint()
  return { ...newLane(endpoint.id, null, 0), endpoint, running: true, ...changes }
}

const someDeliveries = (count: number) =>
  Array.from({ length: count }, () => aDelivery(anEventRow({ receivedAt: NOW }), anEndpoint()))

void t.test('the breaker opens with the tenth failure in a row', (t) => {
  let breaker = CLOSED
  for (let failure = 1; failure <= 9; failure++) breaker = afterFailure(breaker, NOW, PROBE_MS)
  t.notOk(isOpen(breaker))
  breaker = afterFailure(breaker, NOW, PROBE_MS)
  t.ok(isOpen(breaker))
  t.notOk(mayProbe(breaker, plus(NOW, PROBE_MS - 1)))
  t.ok(mayProbe(breaker, plus(NOW, PROBE_MS)))
  breaker = afterFailure(breaker, plus(NOW, PROBE_MS), PROBE_MS)
  t.notOk(mayProbe(breaker, plus(NOW, PROBE_MS)), 'the next probe is a minute later')
  t.end()
})

void t.test("an endpoint is called at its rate; a second's worth may leave at once", (t) => {
  const lane = aLane({ queue: someDeliveries(1), gapMs: 100 })
  const leave = (at: number): number => {
    let left = 0
    for (; mayStart(lane, instant(at)) && left < 100; left += 1) spend(lane, instant(at))
    return left
  }
  t.equal(leave(NOW), 10)
  t.equal(leave(NOW + 99), 0)
  t.equal(leave(NOW + 100), 1)
  t.equal(leave(NOW + 700), 6)
  t.equal(leave(NOW + 60_000), 10, 'no more is saved up')
  t.end()
})

void t.test('a clock that is set back stops neither the tries nor the probes', (t) => {
  const before = instant(NOW + HOUR)
  const lane = aLane({ queue: someDeliveries(1), gapMs: 100 })
  while (mayStart(lane, before)) spend(lane, before)
  t.notOk(mayStart(lane, NOW), 'its rate is spent')
  let left = 0
  for (let at = NOW; at <= NOW + SECOND; at = plus(at, 50)) {
    for (; mayStart(lane, at); left += 1) spend(lane, at)
  }
  t.equal(left, 10, 'it goes on at its rate')

  const failed = afterFailure({ ...CLOSED, failures: 9 }, before, PROBE_MS)
  Object.assign(lane, { breaker: failed, dueOnDisk: plus(before, DAY) })
  t.ok(mayStart(lane, NOW), 'one probe')
  t.ok(mayLoad({ ...lane, queue: [] }, NOW))
  lane.breaker = afterFailure(lane.breaker, NOW, PROBE_MS)
  t.notOk(mayStart(lane, plus(NOW, PROBE_MS - 1)))
  t.ok(mayStart(lane, plus(NOW, PROBE_MS)), 'the next one a minute later')
  t.end()
})

void t.test('how many may be under way', (t) => {
  const queue = someDeliveries(10)
  const starts = (changes: Partial<Lane>): boolean => mayStart(aLane({ queue, ...changes }), NOW)
  t.ok(starts({}))
  t.notOk(starts({ queue: [] }))
  t.notOk(starts({ running: false }))
  t.notOk(starts({ inFlight: 1 }), 'not known yet: one')
  t.ok(starts({ allowed: 4, inFlight: 3 }))
  t.notOk(starts({ allowed: 4, inFlight: 4 }))
  const open = { failures: 10, openUntil: NOW }
  t.ok(starts({ breaker: open }))
  t.notOk(starts({ breaker: open, inFlight: 1 }))
  t.notOk(starts({ breaker: { failures: 10, openUntil: plus(NOW, 1) } }))
  t.end()
})

void t.test('when to fetch from disk', (t) => {
  const loads = (changes: Partial<Lane>): boolean =>
    mayLoad(aLane({ dueOnDisk: NOW, ...changes }), NOW)
  t.ok(loads({}))
  t.notOk(loads({ dueOnDisk: null }))
  t.notOk(loads({ dueOnDisk: plus(NOW, 1) }))
  t.notOk(loads({ loading: true }))
  t.notOk(loads({ running: false }))
  t.notOk(loads({ queue: someDeliveries(LANE_MAX) }))
  const open = { failures: 10, openUntil: NOW }
  t.ok(loads({ breaker: open, dueOnDisk: plus(NOW, DAY) }), 'a probe may be ahead of its time')
  t.notOk(loads({ breaker: open, inFlight: 1 }))
  t.end()
})

void t.test('unloading leaves everything that has not begun to the disk', (t) => {
  const queue = someDeliveries(3)
  const lane = aLane({ queue, held: new Set(queue.map(({ id }) => id)), loading: true })
  dueOnDisk(lane, plus(NOW, 5))
  unload(lane)
  t.same(lane.queue, [])
  t.equal(lane.held.size, 0)
  t.equal(lane.dueOnDisk, NOW, 'due as early as the first of them')
  t.equal(lane.releasedMeanwhile.size, 3, 'a load under way must not bring them as they were')
  lane.loading = false
  release(lane, queue[0]!.id)
  t.equal(lane.releasedMeanwhile.size, 3)
  t.end()
})

const answered = (kind: SendOutcome['kind'], late = false): LaneAnswer => ({
  kind,
  status: kind === 'delivered' ? 200 : 503,
  reason: '',
  late,
})
const promptly = (kind: SendOutcome['kind']): LaneAnswer => answered(kind)

void t.test('what an answer teaches', (t) => {
  const lane = aLane()
  t.same(learn(lane, promptly('retry'), NOW, PROBES), {
    failing: [{ endpointId: lane.endpointId, since: NOW }],
    recovered: [],
    disable: null,
  })
  t.equal(lane.trust, 'suspect')
  t.equal(lane.breaker.failures, 1)
  t.same(
    learn(lane, promptly('permanent'), plus(NOW, 1), PROBES).failing,
    [],
    'failing since the first',
  )
  t.equal(lane.trust, 'prompt', 'a refusal is an answer')
  t.same(lane.breaker, CLOSED)
  const recovered = learn(lane, promptly('delivered'), plus(NOW, 2), PROBES)
  t.same(recovered, { failing: [], recovered: [lane.endpointId], disable: null })
  t.same(learn(lane, promptly('delivered'), plus(NOW, 3), PROBES).recovered, [])
  t.equal(learn(lane, promptly('gone'), plus(NOW, 4), PROBES).disable, 'gone')
  t.end()
})

void t.test('where nothing has ever listened the breaker stays open for seconds', (t) => {
  const refused = { kind: 'retry', status: null, reason: 'ECONNREFUSED', late: false } as const
  const failTenTimes = (lane: Lane, answer: LaneAnswer): void => {
    for (let i = 0; i < 10; i++) learn(lane, answer, NOW, PROBES)
  }
  const pauseOf = ({ breaker }: Lane): number => (breaker.openUntil ?? NOW) - NOW
  const lane = aLane()
  failTenTimes(lane, refused)
  t.equal(pauseOf(lane), 5 * SECOND)
  learn(lane, { ...refused, reason: 'timeout' }, NOW, PROBES)
  t.equal(pauseOf(lane), PROBE_MS, 'silence costs a slot, a refusal nothing')
  learn(lane, refused, NOW, PROBES)
  t.equal(pauseOf(lane), 5 * SECOND)
  learn(lane, promptly('delivered'), NOW, PROBES)
  failTenTimes(lane, refused)
  t.equal(pauseOf(lane), PROBE_MS, 'one that has listened is known to be down')
  startAnew(lane)
  failTenTimes(lane, refused)
  t.equal(pauseOf(lane), 5 * SECOND)
  const failed = aLane()
  failTenTimes(failed, promptly('retry'))
  failTenTimes(failed, refused)
  t.equal(pauseOf(failed), PROBE_MS, 'a 503 is an answer')
  t.end()
})

void t.test('each answer allows one more at once, a failure takes it all back', (t) => {
  const lane = aLane()
  const allowed = (kind: SendOutcome['kind'], late = false): number => {
    learn(lane, answered(kind, late), NOW, PROBES)
    return lane.allowed
  }
  t.equal(lane.allowed, 1)
  const answers = ['delivered', 'permanent', 'delivered', 'delivered', 'delivered'] as const
  t.same(
    answers.map((kind) => allowed(kind)),
    [2, 3, 4, 4, 4],
  )
  t.equal(allowed('retry'), 1)
  t.equal(allowed('delivered', true), 2)
  t.equal(lane.trust, 'suspect', 'late again, most likely')
  t.equal(allowed('delivered'), 3)
  t.equal(lane.trust, 'prompt')
  startAnew(lane)
  t.match(lane, { allowed: 1, trust: 'unknown' })
  t.end()
})

void t.test('five days without a 2xx are enough', (t) => {
  const lane = aLane({ failingSince: NOW })
  t.equal(learn(lane, promptly('retry'), plus(NOW, 5 * DAY - 1), PROBES).disable, null)
  t.equal(learn(lane, promptly('permanent'), plus(NOW, 5 * DAY), PROBES).disable, 'failing')
  const lucky = aLane({ failingSince: NOW })
  learn(lucky, promptly('delivered'), plus(NOW, 4 * DAY), PROBES)
  t.equal(learn(lucky, promptly('retry'), plus(NOW, 6 * DAY), PROBES).disable, null)
  t.end()
})
