/**
 * A webhook endpoint in the pool: its subscription and its signing secret.
 *
 * Does not own: the source of endpoints (endpoint/endpoint_directory).
 *
 * - `*` subscribes to every event type but the opt-in ones.
 * - An endpoint gets no event from before its creation. A disabled one gets its events later, a
 *   deleted one never.
 * - One that was created under a clock that was far ahead gets events at once, not only from that
 *   moment on.
 * - A test event goes only to the endpoint that it names; `webhook_endpoint.disabled` and
 *   `webhook_endpoint.deliveries_dead` go only to the others.
 */
import type { SigningSecret } from '../../../src/auth/signature.js'
import { MINUTE, type Instant } from '../../../src/base/clock.js'
import { isSelected, OTHERS_EVENTS, TEST_EVENT } from '../../../src/base/event_types.js'
import type { EndpointId, TenantId } from '../../../src/base/ids.js'

export interface Endpoint {
  readonly id: EndpointId
  readonly tenant: TenantId
  readonly url: string
  readonly enabledEvents: readonly string[]
  readonly status: 'enabled' | 'disabled' | 'deleted'
  /** Oldest first. */
  readonly secrets: readonly EndpointSecret[]
  readonly createdAt: Instant
  /** When `enabledEvents` was set. */
  readonly enabledEventsSince: Instant
  /** When its breaker was last reset on request. */
  readonly breakerResetAt: Instant
}

export interface EndpointSecret {
  readonly keyId: string
  readonly key: SigningSecret
  readonly activeFrom: Instant
}

export interface RoutedEvent {
  readonly tenant: TenantId
  readonly type: string
  readonly createdAt: Instant
  /** By this pool. */
  readonly receivedAt: Instant
  readonly body: string
}

/** As far as the clock of the books is held after the machine's was set back. */
const HELD_MAX_MS = 15 * MINUTE

export function subscribesTo(endpoint: Endpoint, event: RoutedEvent): boolean {
  if (endpoint.status === 'deleted') return false
  if (endpoint.tenant !== event.tenant) return false
  const isOfWrongClock = endpoint.createdAt - event.receivedAt > HELD_MAX_MS
  if (endpoint.createdAt > event.createdAt && !isOfWrongClock) return false
  if (event.type === TEST_EVENT) return endpoint.id === endpointIn(event.body)
  if (OTHERS_EVENTS.has(event.type) && endpoint.id === endpointIn(event.body)) return false
  return isSelected(endpoint.enabledEvents, event.type)
}

function endpointIn(body: string): string | undefined {
  const { data } = JSON.parse(body) as { data?: { webhook_endpoint?: { id?: string } } }
  return data?.webhook_endpoint?.id
}

/**
 * The newest active secret. The first one is active since the endpoint exists, also while the
 * processor's clock is ahead of this machine's.
 */
export const secretAt = ({ secrets }: Endpoint, now: Instant): EndpointSecret | undefined =>
  secrets.findLast((secret) => secret.activeFrom <= now) ?? secrets[0]
