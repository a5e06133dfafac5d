/**
 * Traffic classes: groups of requests that share queueing, formed before authentication.
 *
 * Does not own: counting (load_shedder.ts), fairness (request_scheduler.ts), authentication.
 *
 * - Each known key has a class; all token requests share one, all other requests another.
 * - A class is claimed, not proven: a request that names another partner's key uses that class's
 *   turns and share, and activates an idle class. It grants no access.
 * - While other classes are shed, the answer may reveal that a key id exists; key ids are not
 *   secret.
 */
import { AUTHORIZATION } from '../authentication/authenticate.js'
import type { BrandHeaders } from '../http/headers.js'
import type { Directory } from '../authentication/partners.js'
import type { RequestContext } from '../http/request_context.js'

export interface TrafficClass {
  readonly of: 'key' | 'apps' | 'unknown_keys'
  /** Requests held, and commands in the processor's cycle. */
  waiting: number
  /** Admitted over the bound in sampling window number `window`, and not answered yet. */
  exempt: number
  window: number
}

export type TrafficClassifier = (request: RequestContext) => TrafficClass

export const createTrafficClass = (of: TrafficClass['of']): TrafficClass => ({
  of,
  waiting: 0,
  exempt: 0,
  window: 0,
})

export function createTrafficClassifier(
  brandHeaders: BrandHeaders,
  directory: Directory,
): TrafficClassifier {
  const byKey = new Map<string, TrafficClass>()
  const apps = createTrafficClass('apps')
  const unknownKeys = createTrafficClass('unknown_keys')

  const trafficClassOfKey = (id: string): TrafficClass => {
    let trafficClass = byKey.get(id)
    if (trafficClass === undefined) byKey.set(id, (trafficClass = createTrafficClass('key')))
    return trafficClass
  }

  return (request) => {
    const id = request.header(brandHeaders.keyId)
    const isKnown = typeof id === 'string' && directory.partners()?.key(id) !== undefined
    if (isKnown) return trafficClassOfKey(id)
    return request.header(AUTHORIZATION) === undefined ? unknownKeys : apps
  }
}
