/**
 * The real relay over an outbox with a clock that runs thirty times as fast: every second it sweeps
 * events that have been open for two.
 */
import { mock } from 'node:test'
import type { Test } from 'tap'
import { instant, type Clock } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import { createRelay, type Relay } from '../../src/processor/background/relay.js'
import type { StoredEvent } from '../../src/store/store.js'
import { createOutbox } from '../bus/bus_events.js'
import type { PoolWorld } from './pool_process.js'

const FASTER = 30

export interface FastRelay {
  readonly clock: Clock
  /** Like the processor: first to disk, then to the bus. */
  commit(events: readonly StoredEvent[]): void
  readonly relay: Relay
}

export function aFastRelay(t: Test, { bus, processor }: PoolWorld): FastRelay {
  const began = Date.now()
  const clock = { now: () => instant(began + (Date.now() - began) * FASTER) }
  const outbox = createOutbox()
  const log = createLog('test', { LOG_LEVEL: 'silent' })
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
  return {
    clock,
    relay,
    commit: (events) => {
      outbox.commit(events)
      relay.push(events)
    },
  }
}

const setRealInterval = globalThis.setInterval
