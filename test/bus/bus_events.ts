/** Sample events and an in-memory outbox in place of the events table. */
import { instant, systemClock, toRfc3339, type Instant } from '../../src/base/clock.js'
import { newId, type EventId, type TenantId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import type { Test } from 'tap'
import type { Bus } from '../../src/bus/nats.js'
import { createRelay, type Relay } from '../../src/processor/background/relay.js'
import type { StoredEvent } from '../../src/store/store.js'
import { SILENT_LOG as log } from '../support/logs.js'

const random = systemRandom()
export const TENANT = 'demo_sandbox' as TenantId

export function anEvent(position: number, changes: Partial<StoredEvent> = {}): StoredEvent {
  const createdAt = changes.createdAt ?? systemClock.now()
  const id = newId<EventId>('event', createdAt, random)
  const type = changes.type ?? 'payout.completed'
  const body = oneLine({ id, type, createdAt, note: 'ส่งเงิน → ₫' })
  const event = { position, id, tenant: TENANT, type, sequence: position, createdAt, body }
  return { ...event, requestId: null, traceparent: null, ...changes }
}

/** A webhook body. */
export const oneLine = (event: Pick<StoredEvent, 'id' | 'type' | 'createdAt'> & { note: string }) =>
  JSON.stringify({
    id: event.id,
    type: event.type,
    webhook_event_id: event.id,
    webhook_event_type: event.type,
    api_version: '2026-11-01',
    created_at: toRfc3339(event.createdAt),
    data: { note: event.note },
  })

export const someEvents = (count: number, from = 1, createdAt: Instant = instant(Date.now())) =>
  Array.from({ length: count }, (_, index) => anEvent(from + index, { createdAt }))

/** A relay from this outbox to the bus. */
export function relayOf(
  t: Test,
  bus: Bus,
  { openEvents }: Pick<ReturnType<typeof createOutbox>, 'openEvents'>,
): Relay {
  const relay = createRelay({ bus: bus.publisher, openEvents, clock: systemClock, log })
  t.teardown(() => relay.stop())
  return relay
}

/** An outbox as the relay uses the events table. */
export function createOutbox() {
  const events: StoredEvent[] = []
  const settled = new Set<string>()
  let reads = 0
  return {
    commit: (added: readonly StoredEvent[]): void => {
      events.push(...added)
    },
    settle: (id: string): void => {
      settled.add(id)
    },
    reads: () => reads,
    openEvents: (after: number, limit: number): Promise<readonly StoredEvent[]> => {
      reads += 1
      const open = events.filter((event) => event.position > after && !settled.has(event.id))
      return Promise.resolve(open.slice(0, limit))
    },
  }
}
