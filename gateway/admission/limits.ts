/**
 * The limits at the gateway, in the order in which a request meets them.
 *
 * Owns: how much each limit allows. Does not own: buckets and counts (rate_limit, connection_limit,
 * load_shedder), the refusals (request_handler, request_context).
 *
 * - Each gateway has its own buckets and its own requests in flight: several gateways on one port
 *   allow as many times as much.
 * - RATE_LIMIT=off lifts every limit of this file.
 * - What is asked of a caller who is not known costs next to nothing: refusing has to be far
 *   cheaper than serving.
 */
import type { Clock } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import type { Settings } from '../../src/base/settings.js'
import type { Caller } from '../authentication/authenticate.js'
import { sourceOf, type ClientAddress } from '../authentication/client_address.js'
import type { RequestContext } from '../http/request_context.js'
import { createRateLimit } from './rate_limit.js'
import { createLoadShedder, type LoadShedder } from './load_shedder.js'

/** More sockets than a backend of a partner holds open. Fewer when connections are scarce. */
export const CONNECTIONS_MAX = 4_000
/**
 * Twice the default rate of a key. Lists reach it; of others the processor has fewer
 * (request_scheduler).
 */
export const TENANT_IN_FLIGHT_MAX = 2_000

/** The requests of one tenant that the processor has not answered. */
export interface InFlight {
  count: number
}

export type LimitName = 'load_shedder' | 'address' | 'in_flight' | 'key'

export interface Limits {
  /** Whether too many wait for the processor already. */
  readonly overload: LoadShedder['admission']
  /** One is refused for it. */
  readonly shed: () => void
  /** Before anybody is known. Seconds to wait; 0: the request passes. */
  readonly source: (request: RequestContext) => number
  /** Once the caller is known, likewise. */
  readonly caller: (caller: Caller) => number
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

  const limited = (name: LimitName, seconds: number): number => {
    if (seconds > 0) onLimited(name)
    return seconds
  }
  const shed = (): void => onLimited('load_shedder')
  if (settings.RATE_LIMIT === 'off') {
    return { overload: () => 'passes', shed, source: () => 0, caller: () => 0, inFlight, queue }
  }
  return {
    overload: queue.admission,
    shed,
    source: (request) => {
      const source = sourceOf(clientAddress(request))
      return limited('address', sources(source, settings.RATE_LIMIT_PER_ADDRESS))
    },
    caller: ({ tenant, rateKey, ratePerSecond }) => {
      if (inFlight(tenant).count >= TENANT_IN_FLIGHT_MAX) return limited('in_flight', 1)
      const perSecond = ratePerSecond === 0 ? settings.RATE_LIMIT_PER_SECOND : ratePerSecond
      return limited('key', keys(rateKey, perSecond))
    },
    inFlight,
    queue,
  }
}

/** Tenants come from callers that were authenticated, so there are few. */
function createInFlight(): (tenant: TenantId) => InFlight {
  const tenants = new Map<TenantId, InFlight>()
  return (tenant) => {
    let inFlight = tenants.get(tenant)
    if (inFlight === undefined) tenants.set(tenant, (inFlight = { count: 0 }))
    return inFlight
  }
}
