/** The load shedder under a simulated clock. */
import fc from 'fast-check'
import t from 'tap'
import { DAY, instant } from '../../src/base/clock.js'
import { createTrafficClass, type TrafficClass } from '../../gateway/admission/traffic_class.js'
import {
  BURST_MAX,
  createLoadShedder,
  SHED_MS,
  QUEUED_MAX,
  SUSTAINED_MS,
  TARGET_MAX_MS,
  WAITING_MIN,
  type AdmissionDecision,
} from '../../gateway/admission/load_shedder.js'

const NOW = instant(1_000_000)

/** Simulates a processor that answers a given number of commands per millisecond, in order. */
function simulation() {
  const queue = createLoadShedder({ now: () => instant(now) })
  const usual = createTrafficClass('key')
  const waiting: { readonly at: number; readonly trafficClass: TrafficClass }[] = []
  const verdicts = new Set<AdmissionDecision>()
  let now = 1_000_000
  let owed = 0
  return {
    verdicts,
    get waiting() {
      return waiting.length
    },
    /** Returns the number of rejections. */
    request: (count: number, trafficClass = usual): number => {
      let refused = 0
      for (let i = 0; i < count; i++) {
        const admission = queue.admission(instant(now), () => trafficClass)
        verdicts.add(admission)
        if (admission !== 'passes') refused += 1
        else {
          queue.enter(trafficClass)
          waiting.push({ at: now, trafficClass })
        }
      }
      return refused
    },
    /** Returns the number of admitted requests, none of which becomes a command. */
    admitWithoutCommand: (count: number, trafficClass: TrafficClass): number => {
      let admitted = 0
      for (let i = 0; i < count; i++) {
        if (queue.admission(instant(now), () => trafficClass) === 'passes') admitted += 1
      }
      return admitted
    },
    /** Advances 1 ms and returns the waiting times of the requests answered in it. */
    answer: (perMs: number): number[] => {
      now += 1
      owed = Math.min(owed + perMs, waiting.length)
      const answered = waiting.splice(0, Math.floor(owed))
      owed -= answered.length
      for (const { at, trafficClass } of answered) queue.leave(trafficClass, instant(at))
      return answered.map(({ at }) => now - at)
    },
    /** So many milliseconds, each with these requests and answers. Returns the rejections. */
    run(ms: number, requests: number, answers: number): number {
      let refused = 0
      for (let i = 0; i < ms; i++) {
        refused += this.request(requests)
        this.answer(answers)
      }
      return refused
    },
    setBack: (ms: number) => {
      now -= ms
    },
  }
}

t.test('a burst of BURST_MAX is accepted in full', async (t) => {
  const world = simulation()
  t.equal(world.request(BURST_MAX), 0)
  t.equal(world.request(10), 10, 'one more is rejected')
})

t.test('a larger burst is treated as overload at once', async (t) => {
  const queue = createLoadShedder({ now: () => NOW })
  const trafficClass = createTrafficClass('key')
  const verdicts: AdmissionDecision[] = []
  for (let i = 0; i < 100; i++) queue.enter(trafficClass)
  for (let i = 100; i <= BURST_MAX + 1; i++) {
    const admission = queue.admission(NOW, () => trafficClass)
    verdicts.push(admission)
    if (admission === 'passes') queue.hold(trafficClass)
    else if (admission === 'flood') while (queue.held > 0) queue.release(trafficClass)
  }
  t.same(
    verdicts.slice(-2),
    ['flood', 'refused'],
    'a second burst is rejected: the processor is at capacity',
  )
  t.ok(verdicts.slice(0, -2).every((admission) => admission === 'passes'))
})

t.test('overload in one traffic class sheds no request of the others', async (t) => {
  const flood = createTrafficClass('key')
  const modest = [createTrafficClass('key'), createTrafficClass('key'), createTrafficClass('apps')]
  const unknownKeys = createTrafficClass('unknown_keys')
  const world = simulation()
  for (let gone = 0; gone < 100; gone++) world.request(1, createTrafficClass('key'))
  world.answer(100)
  let refused = 0
  let innocent = 0
  let rejectedUnknown = 0
  for (let ms = 0; ms < 4_000; ms++) {
    refused += world.request(40, flood)
    // Commands already sent to the processor cannot be dropped.
    const isModest = ms >= 1_000 && ms % 10 === 0
    if (isModest) for (const trafficClass of modest) innocent += world.request(2, trafficClass)
    if (isModest) rejectedUnknown += world.request(1, unknownKeys)
    world.answer(4)
  }
  t.equal(innocent, 0)
  t.ok(refused > 0.8 * 36 * 4_000, 'the overloading class is shed')
  t.ok(rejectedUnknown > 0, 'unknown keys are shed')
})

t.test(
  'unauthenticated requests use up the allowance of a class until the next window',
  async (t) => {
    const world = simulation()
    const borrowed = createTrafficClass('apps')
    world.run(2_000, 40, 4)
    for (let window = 0; window < 4; window++) {
      let admitted = 0
      for (let ms = 0; ms < SHED_MS; ms++) {
        world.request(40)
        admitted += world.admitWithoutCommand(40, borrowed)
        world.answer(4)
      }
      t.ok(admitted > 0 && admitted <= WAITING_MIN, `${admitted} are admitted`)
    }
  },
)

t.test('shedding ends while other classes continue', async (t) => {
  const world = simulation()
  world.run(2_000, 40, 4)
  const classes = Array.from({ length: 5 }, () => createTrafficClass('key'))
  let last = 0
  for (let ms = 0; ms < 6 * SHED_MS; ms++) {
    // One key keeps the queue at its bound; the other classes add to it.
    world.request(WAITING_MIN - world.waiting)
    if (ms % 20 === 0 && world.request(1) > 0) last = ms
    if (ms % 4 === 0) for (const trafficClass of classes) world.request(1, trafficClass)
    world.answer(6)
  }
  t.ok(last < 3 * SHED_MS, `the last one is refused after ${last} ms`)
})

t.test(
  'traffic classes that share an overload are shed alike and the queue stays short',
  async (t) => {
    const longestQueueOf = (count: number): number => {
      const classes = Array.from({ length: count }, () => createTrafficClass('key'))
      const world = simulation()
      let most = 0
      for (let ms = 0; ms < 4_000; ms++) {
        for (const trafficClass of classes) world.request(40 / count, trafficClass)
        world.answer(4)
        if (ms >= 2_000) most = Math.max(most, world.waiting)
      }
      return most
    }
    const [most, usual] = [longestQueueOf(10), longestQueueOf(1)]
    t.ok(most <= 1.5 * usual, `${most} wait at most, ${usual} of one traffic class`)
  },
)

t.test('many small traffic classes are bounded by WAITING_MAX', async () => {
  const arrivals = fc.array(fc.tuple(fc.nat(9), fc.nat(600)), { maxLength: 60 })
  fc.assert(
    fc.property(arrivals, (arrivals) => {
      const classes = Array.from({ length: 10 }, () => createTrafficClass('key'))
      const world = simulation()
      for (const [index, count] of arrivals) world.request(count, classes[index])
      return world.waiting <= BURST_MAX + QUEUED_MAX / 2
    }),
    { examples: [[Array.from({ length: 10 }, (_, index) => [index, BURST_MAX])]] },
  )
})

t.test('an overload that ended at once does not affect the next burst', async (t) => {
  const world = simulation()
  t.ok(world.request(2 * BURST_MAX) > 0)
  world.run(2 * SHED_MS, 0, 10)
  t.equal(world.waiting, 0)
  t.equal(world.request(BURST_MAX), 0)
})

t.test('after an idle time every burst is accepted in full', async () => {
  const steps = fc.array(fc.record({ arriving: fc.nat(3_000), perMs: fc.nat(30), ms: fc.nat(300) }))
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: BURST_MAX }), (steps, burst) => {
      const world = simulation()
      for (const { arriving, perMs, ms } of steps) {
        world.request(arriving)
        world.run(ms, arriving % 40, perMs)
      }
      while (world.waiting > 0) world.answer(10)
      world.run(SHED_MS, 0, 10)
      return world.request(burst) === 0
    }),
  )
})

t.test('a pause of the processor is not treated as overload', async (t) => {
  const world = simulation()
  world.run(600, 7, 0)
  t.notOk(world.verdicts.has('flood'))
})

t.test('a burst after an idle time is accepted in full, with the requests beside it', async (t) => {
  const world = simulation()
  t.equal(world.request(2_000), 0)
  let refused = 0
  for (let ms = 0; ms < 1_000; ms++) {
    world.answer(10)
    refused += world.request(5)
  }
  t.equal(refused, 0)
})

t.test('every burst may arrive slowly, not only the first', async (t) => {
  const world = simulation()
  for (const burst of ['first', 'second']) {
    const refused = world.request(QUEUED_MAX)
    t.equal(refused + world.run(1.5 * SUSTAINED_MS, 6, 1), 0, burst)
    while (world.waiting > 0) world.answer(10)
  }
})

t.test('overload is shed soon, and waits are short at any response rate', async (t) => {
  for (const perMs of [0.5, 2, 4, 16]) {
    const world = simulation()
    let sheds = Infinity
    let longest = 0
    for (let ms = 0; ms < 6_000; ms++) {
      if (world.request(10 * perMs) > 0) sheds = Math.min(sheds, ms)
      const waits = world.answer(perMs)
      if (ms >= 5_000) longest = Math.max(longest, ...waits)
    }
    const reached = QUEUED_MAX / (9 * perMs)
    t.ok(sheds <= reached + 3 * SUSTAINED_MS, `${perMs}/ms: shed after ${sheds} ms`)
    t.ok(longest <= 2 * Math.max(TARGET_MAX_MS, WAITING_MIN / perMs), `${perMs}/ms: ${longest} ms`)
  }
})

t.test('accepted requests wait no longer in overload', async (t) => {
  const world = simulation()
  world.run(1_000, 5, 10)
  let longest = 0
  for (let ms = 0; ms < 3_000; ms++) {
    world.request(30)
    const waits = world.answer(10)
    if (ms >= 2_000) longest = Math.max(longest, ...waits)
  }
  t.ok(longest > 0 && longest <= 20, `${longest} ms`)
})

for (const [what, setBackMs] of [
  ['', 0],
  [', also after a clock that moved back', DAY],
] as const) {
  t.test(`a slow disk gets large commits in overload${what}`, async (t) => {
    const world = simulation()
    const SYNC_MS = 16
    const COMMIT_BATCH_MAX = 256
    let group = 0
    let answered = 0
    for (let ms = 0; ms < 10_000; ms++) {
      world.request(ms < 5_000 ? 6 : 160)
      if (ms === 4_000) world.setBack(setBackMs)
      const done = world.answer(ms % SYNC_MS === 0 ? group : 0).length
      if (ms % SYNC_MS === 0) group = Math.min(COMMIT_BATCH_MAX, world.waiting)
      if (ms >= 7_000) answered += done
    }
    const capacity = COMMIT_BATCH_MAX / SYNC_MS
    t.ok(answered / 3_000 >= 0.9 * capacity, `${answered / 3_000} of ${capacity} a millisecond`)
  })
}

t.test('rejections stop as soon as the overload ends', async (t) => {
  const world = simulation()
  world.run(2_000, 40, 4)
  t.ok(world.request(40) > 0)
  let last = 0
  for (let ms = 0; ms < 2 * SHED_MS; ms++) {
    world.answer(4)
    if (world.request(2) > 0) last = ms
  }
  t.ok(last < 100, `the last one ${last} ms after its end`)
  t.equal(world.request(QUEUED_MAX - world.waiting), 0, 'the queue may be as long as before')
})

t.test('closed-loop callers are never rejected', async () => {
  const pauses = fc.array(fc.nat(60), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: QUEUED_MAX }), pauses, (connections, pauses) => {
      const world = simulation()
      let refused = world.request(connections)
      for (const pause of pauses) {
        // Answers come in late batches, or a few at a time.
        world.run(pause * 10, 0, 0)
        for (let ms = 0; ms < pause; ms++) refused += world.request(world.answer(pause).length)
      }
      return refused === 0
    }),
  )
})

t.test('more closed-loop callers are accepted while answers keep coming', async (t) => {
  const world = simulation()
  let refused = world.request(1_900)
  for (let ms = 0; ms < 5_000; ms++) refused += world.request(world.answer(1).length)
  t.equal(refused, 0)
})

t.test('a load slightly above capacity is shed', async (t) => {
  const world = simulation()
  let most = 0
  for (let ms = 0; ms < 60_000; ms++) {
    world.request(ms % 20 === 0 ? 5 : 4)
    world.answer(4)
    most = Math.max(most, world.waiting)
  }
  t.ok(most < 2 * QUEUED_MAX + SUSTAINED_MS, `at most ${most} wait`)
})

t.test('a clock that moves back neither rejects requests nor admits an overload', async (t) => {
  const world = simulation()
  world.request(2 * QUEUED_MAX)
  world.setBack(3_600_000)
  world.run(2 * SUSTAINED_MS, 40, 4)
  t.ok(world.request(1) > 0)
  world.setBack(3_600_000)
  world.run(2_000, 2, 4)
  t.equal(world.request(1), 0)
})
