/**
 * Lanes: in whose name a request waits, before anybody has proved who he is.
 *
 * Owns: finding a request's lane. Does not own: counting in it (standing_queue), turns (backlog),
 * proofs (authenticate).
 *
 * L1. Every key that is known has a lane, all apps with their tokens share one, strangers another.
 * L2. A lane is claimed, not proven: who names another one's key takes of its turns and of its
 *     share, and makes all shares smaller where it would be idle. Nobody is let in by it.
 * L3. While others are shed, an answer may tell that a key is known: ids of keys are no secret.
 */
import { AUTHORIZATION } from './authenticate.js'
import type { BrandHeaders } from './brand_headers.js'
import type { Directory } from './directory.js'
import type { Exchange } from './exchange.js'

export interface Lane {
  readonly of: 'key' | 'apps' | 'strangers'
  /** Calls that are held and commands in the processor's cycle. */
  waiting: number
  /** Let in beyond what may wait since the queue's look of that number, and not answered yet. */
  exempt: number
  look: number
}

export type Lanes = (exchange: Exchange) => Lane

export const createLane = (of: Lane['of']): Lane => ({ of, waiting: 0, exempt: 0, look: 0 })

export function createLanes(brandHeaders: BrandHeaders, directory: Directory): Lanes {
  const byKey = new Map<string, Lane>()
  const apps = createLane('apps')
  const strangers = createLane('strangers')

  const laneOfKey = (id: string): Lane => {
    let lane = byKey.get(id)
    if (lane === undefined) byKey.set(id, (lane = createLane('key')))
    return lane
  }

  return (exchange) => {
    const id = exchange.header(brandHeaders.keyId)
    const isKnown = typeof id === 'string' && directory.partners()?.key(id) !== undefined
    if (isKnown) return laneOfKey(id)
    return exchange.header(AUTHORIZATION) === undefined ? strangers : apps
  }
}
