/** Builders of valid endpoints, events and deliveries. */
import { signingKey } from '../../src/auth/signature.js'
import { instant, systemClock, type Clock, type Instant } from '../../src/base/clock.js'
import { newId, type EndpointId, type EventId, type TenantId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import type { Endpoint } from '../../actors/webhook/endpoint/endpoint.js'
import type { EventClaims } from '../../actors/webhook/intake/event_claims.js'
import { deliveryTo } from '../../actors/webhook/intake/event_consumer.js'
import type { EventRow } from '../../actors/webhook/store/schema.js'
import type { Delivery } from '../../actors/webhook/store/store.js'

const random = systemRandom()
export const TENANT = 'demo_sandbox' as TenantId
export const SECRET = 'whsec_0123456789'

/** A clock that the test advances. */
export function heldClock(start = 1_790_000_000_000): Clock & { advance(ms: number): void } {
  let now = start
  return {
    now: () => instant(now),
    advance: (ms) => {
      now += ms
    },
  }
}

export const anEndpoint = (changes: Partial<Endpoint> = {}): Endpoint => ({
  id: newId<EndpointId>('endpoint', systemClock.now(), random),
  tenant: TENANT,
  url: 'http://127.0.0.1:1/hook',
  enabledEvents: ['*'],
  status: 'enabled',
  secrets: [{ keyId: 'whk_1', key: signingKey(SECRET), activeFrom: instant(0) }],
  createdAt: instant(0),
  enabledEventsSince: changes.createdAt ?? instant(0),
  breakerResetAt: instant(0),
  ...changes,
})

export function anEventRow(changes: Partial<EventRow> = {}): EventRow {
  const at = changes.receivedAt ?? systemClock.now()
  const id = newId<EventId>('event', at, random)
  const type = 'payout.completed'
  return {
    id,
    tenant: TENANT,
    type,
    sequence: 1,
    createdAt: at,
    receivedAt: at,
    body: JSON.stringify({ id, type, data: { note: 'đồng' } }),
    requestId: null,
    traceparent: null,
    ...changes,
  }
}

export const aDelivery = (
  event: EventRow,
  endpoint: Pick<Endpoint, 'id'>,
  at: Instant = event.receivedAt,
): Delivery => deliveryTo(endpoint, event, at, random)

/** The claims of a pool that is alone. */
export const NO_CLAIMS: Pick<EventClaims, 'ask' | 'isYielded'> = {
  ask: (_events, take) => take(new Set()),
  isYielded: () => false,
}
