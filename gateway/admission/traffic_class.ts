/**
 * Traffic classes: in whose name a request waits, before anybody has proved who he is.
 *
 * Owns: finding a request's traffic class. Does not own: counting in it (load_shedder), turns
 * (request_scheduler), proofs (authenticate).
 *
 * - Every key that is known has a traffic class, all apps with their tokens share one, strangers
 *   another.
 * - A traffic class is claimed, not proven: who names another one's key takes of its turns and of
 *   its share, and makes all shares smaller where it would be idle. Nobody is let in by it.
 * - While others are shed, an answer may tell that a key is known: ids of keys are no secret.
 */
import { AUTHORIZATION } from '../authentication/authenticate.js'
import type { BrandHeaders } from '../http/headers.js'
import type { Directory } from '../authentication/partner_directory.js'
import type { RequestContext } from '../http/request_context.js'

export interface TrafficClass {
  readonly of: 'key' | 'apps' | 'unknown_keys'
  /** Calls that are held and commands in the processor's cycle. */
  waiting: number
  /** Let in beyond what may wait since the queue's look of that number, and not answered yet. */
  exempt: number
  look: number
}

export type TrafficClassifier = (request: RequestContext) => TrafficClass

export const createTrafficClass = (of: TrafficClass['of']): TrafficClass => ({
  of,
  waiting: 0,
  exempt: 0,
  look: 0,
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
