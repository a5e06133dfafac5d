/**
 * The real relay over an outbox with a clock that runs thirty times as fast: every second it sweeps
 * events that have been open for two.
 */
import { mock } from 'node:test'
import type { Test } from 'tap'
import { instant } from '../../src/base/clock.js'
import { createRelay } from '../../src/processor/background/relay.js'
import type { StoredEvent } from '../../src/store/store.js'
import { anEvent, createOutbox, TENANT } from '../bus/bus_events.js'
import { SILENT_LOG as log } from '../support/logs.js'
import type { PoolWorld } from './pool_process.js'

const FASTER = 30

/** @param tenants of its events, in turn */
export function aFastRelay(t: Test, { bus, processor }: PoolWorld, tenants = [TENANT]) {
  const began = Date.now()
  const clock = { now: () => instant(began + (Date.now() - began) * FASTER) }
  const outbox = createOutbox()
  const openEvents = (after: number, limit: number): Promise<readonly StoredEvent[]> => {
    for (const outcome of processor.outcomes.keys()) outbox.settle(outcome.split(' ')[0] ?? '')
    return outbox.openEvents(after, limit)
  }

  const interval = mock.method(globalThis, 'setInterval', (work: () => void, after: number) =>
    setRealInterval(work, after / FASTER),
  )
  const relay = createRelay({ bus: bus.publisher, openEvents, clock, log })
  interval.mock.restore()
  t.teardown(() => relay.stop())
  const published: StoredEvent[] = []
  return {
    relay,
    published,
    /** Commits new events as the processor does: first to disk, then to the bus. */
    publish: (count: number): void => {
      const createdAt = clock.now()
      const events = Array.from({ length: count }, (_, index) => {
        const position = published.length + index + 1
        return anEvent(position, { tenant: tenants[position % tenants.length]!, createdAt })
      })
      published.push(...events)
      outbox.commit(events)
      relay.push(events)
    },
  }
}

const setRealInterval = globalThis.setInterval
