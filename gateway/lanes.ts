/**
 * Lanes: in whose name a request waits, before he has proved who he is.
 *
 * Owns: finding a request's lane. Does not own: what waits in one (standing_queue, backlog), proofs
 * (authenticate).
 *
 * L1. Every key that is known has a lane, all apps with their tokens share one, strangers another.
 * L2. A lane is claimed, not proven: who names another one's key takes some of its turns, and
 *     nothing from anybody else.
 */
import { AUTHORIZATION } from './authenticate.js'
import type { BrandHeaders } from './brand_headers.js'
import type { Directory } from './directory.js'
import type { Exchange } from './exchange.js'

export interface Lane {
  readonly of: 'key' | 'apps' | 'strangers'
  /** Calls that are held and commands that the processor has. The standing queue counts it. */
  waiting: number
}

export type Lanes = (exchange: Exchange) => Lane

export const createLane = (of: Lane['of']): Lane => ({ of, waiting: 0 })

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
