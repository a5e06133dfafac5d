/** The relay publishes every open event in order, and repeats it until it is stored and settled. */
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { instant, MINUTE, SECOND } from '../../src/base/clock.js'
import { createRelay, type EventBus } from '../../src/processor/background/relay.js'
import type { CommittedEvent } from '../../src/processor/cycle/commit_batch.js'
import type { StoredEvent } from '../../src/store/store.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { createOutbox, someEvents } from './bus_events.js'

/** A bus that the test controls. */
function heldBus() {
  const published: { readonly id: string; readonly messageId: string }[] = []
  let open: (() => void)[] = []
  let capacity = 2_000
  let stores: (event: StoredEvent) => boolean = () => true
  let answersAtOnce = true
  let up: (emptied: boolean) => void = () => undefined
  const bus: EventBus = {
    publish: (event, messageId) =>
      new Promise((resolve) => {
        published.push({ id: event.id, messageId })
        const answer = (): void => resolve(stores(event))
        if (answersAtOnce) answer()
        else open.push(answer)
      }),
    capacity: () => Math.max(0, capacity - open.length),
    onUp: (handler) => {
      up = handler
    },
  }
  return {
    bus,
    published,
    ids: () => new Set(published.map(({ id }) => id)),
    setCapacity: (given: number) => {
      capacity = given
    },
    storesOnly: (rule: (event: StoredEvent) => boolean) => {
      stores = rule
    },
    holdAnswers: () => {
      answersAtOnce = false
    },
    answerOne: (index: number) => open.splice(index, 1)[0]?.(),
    answerAll: () => {
      answersAtOnce = true
      for (const answer of open.splice(0)) answer()
      open = []
    },
    comeUp: (emptied: boolean) => up(emptied),
  }
}

function aRelay(t: Test, held = heldBus(), outbox = createOutbox()) {
  let now = Date.now()
  const clock = { now: () => instant(now) }
  const relay = createRelay({ bus: held.bus, openEvents: outbox.openEvents, clock, log })
  t.teardown(() => relay.stop())
  return {
    held,
    outbox,
    relay,
    now: clock.now,
    advance: (ms: number) => {
      now += ms
    },
    commit: (events: readonly StoredEvent[]): void => {
      outbox.commit(events)
      relay.push(events)
    },
    upToDate: () => eventually('the relay has caught up', () => !relay.backlog().catchingUp),
  }
}

t.test('the relay starts with the open events of the outbox, in order', async (t) => {
  const held = heldBus()
  const outbox = createOutbox()
  const events = someEvents(1_200)
  outbox.commit(events)
  outbox.settle(events[3]!.id)
  await aRelay(t, held, outbox).upToDate()
  const open = events.filter((event) => event !== events[3])
  t.same(
    held.published,
    open.map(({ id }) => ({ id, messageId: id })),
  )
})

t.test('memory is bounded and further events are read from the outbox', async (t) => {
  const { held, relay, commit, upToDate } = aRelay(t)
  await upToDate()
  held.setCapacity(0)
  const events = someEvents(25_000)
  for (let from = 0; from < events.length; from += 1_000) {
    commit(events.slice(from, from + 1_000))
    t.ok(relay.backlog().waiting <= 10_000)
  }
  t.equal(relay.backlog().catchingUp, true)
  held.setCapacity(2_000)
  held.comeUp(false)
  await upToDate()
  t.equal(held.ids().size, 25_000)
})

t.test('buffered events are published when the bus comes up', async (t) => {
  const { held, outbox, commit, upToDate } = aRelay(t)
  await upToDate()
  held.setCapacity(0)
  commit(someEvents(100))
  t.equal(held.published.length, 0)
  const reads = outbox.reads()
  held.setCapacity(2_000)
  held.comeUp(false)
  t.equal(held.published.length, 100)
  t.equal(outbox.reads(), reads)
})

t.test('an unknown outcome is republished with every later event', async (t) => {
  const { held, commit, upToDate } = aRelay(t)
  await upToDate()
  const events = someEvents(50)
  let failures = 3
  held.storesOnly(({ position }) => position !== 20 || failures-- <= 0)
  commit(events)
  await eventually('the event is published again', () => failures < 0)
  await upToDate()
  const last = held.published.slice(-31).map(({ id }) => id)
  t.same(
    last,
    events.slice(19).map(({ id }) => id),
  )
})

t.test('an earlier event found missing while a page is outstanding is published', async (t) => {
  const held = heldBus()
  const outbox = createOutbox()
  const { commit, upToDate } = aRelay(t, held, outbox)
  await upToDate()
  held.holdAnswers()
  held.storesOnly(() => false)
  const [first, second] = someEvents(2)
  commit([first!, second!])
  held.answerOne(1)
  await eventually('the second event is published again', () => held.published.length === 3)
  held.answerOne(0)
  held.storesOnly(() => true)
  held.answerAll()
  await upToDate()
  t.same(
    held.published.slice(2).map(({ id }) => id),
    [second!.id, first!.id, second!.id],
  )
})

for (const [page, count] of [
  ['a full page', 500],
  ['the last page', 10],
] as const) {
  t.test(`events committed while ${page} is outstanding are published`, async (t) => {
    const held = heldBus()
    const outbox = createOutbox()
    outbox.commit(someEvents(count))
    held.holdAnswers()
    const { relay, commit, upToDate } = aRelay(t, held, outbox)
    await eventually('the event is published', () => held.published.length === count)
    for (let more = 1; more <= 100; more++) commit(someEvents(1, count + more))
    t.equal(relay.backlog().waiting, 0, 'the later events are in the outbox')
    t.equal(held.published.length, count, 'after the outstanding ones')
    held.answerAll()
    await upToDate()
    t.equal(held.ids().size, count + 100)
    commit(someEvents(1, count + 101))
    t.equal(held.ids().size, count + 101, 'later events are published at once')
  })
}

t.test('every open event is published after the stream was emptied', async (t) => {
  const { held, outbox, commit, upToDate } = aRelay(t)
  await upToDate()
  const events = someEvents(30)
  commit(events)
  await new Promise((resolve) => setImmediate(resolve))
  for (const { id } of events.slice(0, 10)) outbox.settle(id)
  held.published.length = 0
  held.comeUp(true)
  await upToDate()
  t.same(held.ids(), new Set(events.slice(10).map(({ id }) => id)))
})

t.test('a failed read of the outbox is retried', async (t) => {
  const held = heldBus()
  const outbox = createOutbox()
  outbox.commit(someEvents(5))
  let broken = true
  const relay = createRelay({
    bus: held.bus,
    openEvents: (after, limit) =>
      broken ? Promise.reject(new Error('disk')) : outbox.openEvents(after, limit),
    clock: { now: () => instant(Date.now()) },
    log,
  })
  t.teardown(() => relay.stop())
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(relay.backlog().catchingUp, true)
  broken = false
  await eventually('published', () => held.published.length === 5)
})

const settled = (event: StoredEvent): CommittedEvent => ({ ...event, isSettled: true })

t.test('of settled events only the newest is published, once a second', async (t) => {
  const { held, relay, commit, upToDate } = aRelay(t)
  await upToDate()
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const numbers = (): number[] => held.published.map(({ id }) => positions.get(id) ?? 0)
  const events = someEvents(9)
  const positions = new Map(events.map(({ id, position }) => [id, position]))
  const pushSettled = (...positions: number[]): void =>
    relay.push(positions.map((position) => settled(events[position - 1]!)))
  pushSettled(1)
  pushSettled(2)
  mock.timers.tick(SECOND - 1)
  t.same(numbers(), [], 'not yet')
  mock.timers.tick(1)
  t.same(numbers(), [2], 'the newest')
  pushSettled(3)
  commit(events.slice(3, 5))
  t.same(numbers(), [2, 4, 5], 'open events at once')
  mock.timers.tick(SECOND)
  t.same(numbers(), [2, 4, 5], 'a later event is in the bus')
  held.setCapacity(0)
  pushSettled(6)
  mock.timers.tick(SECOND)
  held.setCapacity(2_000)
  held.comeUp(false)
  t.same(numbers(), [2, 4, 5], 'none for a bus that is down')
  pushSettled(7, 8)
  mock.timers.tick(SECOND)
  t.same(numbers(), [2, 4, 5, 8], 'but the next one')
  pushSettled(9)
  await relay.stop()
  t.same(numbers(), [2, 4, 5, 8, 9], 'the last one at a stop')
})

const sweep = async (): Promise<void> => {
  mock.timers.tick(30 * SECOND)
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('an open event is republished after 1, 2, 4… minutes', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const { held, outbox, commit, advance, now, upToDate } = aRelay(t)
  await upToDate()
  const [open, settled] = someEvents(2, 1, now())
  commit([open!, settled!])
  await new Promise((resolve) => setImmediate(resolve))
  outbox.settle(settled!.id)
  held.published.length = 0
  const swept: number[] = []
  for (let seconds = 30; seconds <= 10 * 60; seconds += 30) {
    advance(30 * SECOND)
    const before = held.published.length
    await sweep()
    if (held.published.length > before) swept.push(Math.round((seconds * SECOND) / MINUTE))
  }
  t.same(swept, [1, 2, 4, 8])
  t.same(
    held.published,
    [1, 2, 3, 4].map((number) => ({ id: open!.id, messageId: `${open!.id}:sweep${number}` })),
  )
})

t.test('a sweep that was not stored is repeated', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const { held, commit, advance, now, upToDate } = aRelay(t)
  await upToDate()
  commit(someEvents(1, 1, now()))
  await new Promise((resolve) => setImmediate(resolve))
  held.published.length = 0
  advance(61 * SECOND)
  held.storesOnly(() => false)
  await sweep()
  held.storesOnly(() => true)
  await sweep()
  await sweep()
  t.equal(held.published.length, 2, 'until it is stored')
})
