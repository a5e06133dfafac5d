/**
 * Commands waiting to be decided, a lane a tenant.
 *
 * Q1. Bounded: a full queue says no at once. Our own commands (timers, rail news, operators,
 *     outcomes) are never refused: they are bounded by their own sources, and refusing them would
 *     only make them come again.
 * Q2. Lanes take turns, so that no tenant fills a batch while another one waits.
 */
import type { TenantId } from '../../base/ids.js'

/** The tenant it belongs to; our own commands, and operators', have none. */
export type Lane = TenantId | 'ours'

export interface FairQueue<Item> {
  /** False when there is no room. */
  add(lane: Lane, item: Item): boolean
  take(max: number): Item[]
  readonly size: number
}

export function createFairQueue<Item>(max: number): FairQueue<Item> {
  const lanes = new Map<Lane, Item[]>()
  let size = 0

  const add = (lane: Lane, item: Item): boolean => {
    if (size >= max && lane !== 'ours') return false
    const waiting = lanes.get(lane)
    if (waiting === undefined) lanes.set(lane, [item])
    else waiting.push(item)
    size += 1
    return true
  }

  const take = (wanted: number): Item[] => {
    const taken: Item[] = []
    const share = Math.max(1, Math.floor(wanted / Math.max(1, lanes.size)))
    for (const [lane, waiting] of lanes) {
      const room = Math.min(share, wanted - taken.length)
      if (room === 0) break
      lanes.delete(lane)
      const served = waiting.length <= room ? waiting : waiting.splice(0, room)
      for (const item of served) taken.push(item)
      // Behind the others; this round comes back to it.
      if (served !== waiting) lanes.set(lane, waiting)
    }
    size -= taken.length
    return taken
  }

  return {
    add,
    take,
    get size() {
      return size
    },
  }
}
