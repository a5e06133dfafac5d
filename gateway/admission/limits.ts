/**
 * The limits of the gateway, in the order in which a request passes them.
 *
 * Owns: how much each limit allows. Does not own: buckets and counts (rate_limit.ts,
 * connection_limit.ts, load_shedder.ts), rejections (request_handler.ts).
 *
 * - Each gateway has its own buckets and counters, so n gateways on one port allow n times as much.
 * - RATE_LIMIT=off disables every limit of this file.
 * - Checks before authentication are cheap: rejecting must cost far less than serving.
 */
import type { Clock } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { sourceOf } from '../../src/base/network.js'
import type { Settings } from '../../src/settings/settings.js'
import type { Caller } from '../http/caller.js'
import type { ClientAddress } from '../authentication/client_address.js'
import type { RequestContext } from '../http/request_context.js'
import { createRateLimit } from './rate_limit.js'
import { createLoadShedder, type LoadShedder } from './load_shedder.js'

/** More than a partner's backend holds open. Lower when connections are scarce. */
export const CONNECTIONS_MAX = 4_000
/**
 * Twice the default rate of a key. Only lists reach it; request_scheduler.ts bounds commands lower.
 */
export const TENANT_IN_FLIGHT_MAX = 2_000

/** Requests of one tenant that the processor has not answered. */
export interface InFlight {
  count: number
}

/** A limit that a request exceeds. */
export interface Exceeded {
  /** Requests a second; of the in-flight limit, requests at once. */
  readonly limit: number
  /** Seconds until the next request may pass. */
  readonly retryAfter: number
}

export type LimitName = 'load_shedder' | 'address' | 'in_flight' | 'key'

export interface Limits {
  /** The load shedder: whether to accept one more request. */
  readonly overload: LoadShedder['admission']
  /** Counts a request that the load shedder rejected. */
  readonly shed: () => void
  /** Before authentication. Null if the request is accepted. */
  readonly source: (request: RequestContext) => Exceeded | null
  /** After authentication, likewise. */
  readonly caller: (caller: Caller) => Exceeded | null
  readonly inFlight: (tenant: TenantId) => InFlight
  readonly queue: Omit<LoadShedder, 'admission'>
}

export interface LimitsOptions {
  readonly settings: Settings
  readonly clientAddress: ClientAddress
  readonly clock: Clock
  readonly onLimited: (name: LimitName) => void
}

export function createLimits(options: LimitsOptions): Limits {
  const { settings, clientAddress, onLimited } = options
  const sources = createRateLimit(options.clock)
  const keys = createRateLimit(options.clock)
  const inFlight = createInFlight()
  const queue = createLoadShedder(options.clock)

  const limited = (name: LimitName, limit: number, retryAfter: number): Exceeded | null => {
    if (retryAfter === 0) return null
    onLimited(name)
    return { limit, retryAfter }
  }
  const shed = (): void => onLimited('load_shedder')
  if (settings.RATE_LIMIT === 'off') {
    return {
      overload: () => 'passes',
      shed,
      source: () => null,
      caller: () => null,
      inFlight,
      queue,
    }
  }
  return {
    overload: queue.admission,
    shed,
    source: (request) => {
      const source = sourceOf(clientAddress(request))
      const perSecond = settings.RATE_LIMIT_PER_ADDRESS
      return limited('address', perSecond, sources(source, perSecond))
    },
    caller: ({ tenant, rateKey, ratePerSecond }) => {
      if (inFlight(tenant).count >= TENANT_IN_FLIGHT_MAX) {
        return limited('in_flight', TENANT_IN_FLIGHT_MAX, 1)
      }
      const perSecond = ratePerSecond === 0 ? settings.RATE_LIMIT_PER_SECOND : ratePerSecond
      return limited('key', perSecond, keys(rateKey, perSecond))
    },
    inFlight,
    queue,
  }
}

/** Only authenticated callers add tenants, so there are few. */
function createInFlight(): (tenant: TenantId) => InFlight {
  const tenants = new Map<TenantId, InFlight>()
  return (tenant) => {
    let inFlight = tenants.get(tenant)
    if (inFlight === undefined) tenants.set(tenant, (inFlight = { count: 0 }))
    return inFlight
  }
}
