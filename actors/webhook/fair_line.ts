/**
 * A line in which partners take turns, and the endpoints of a partner take turns among themselves.
 *
 * F1. A partner with a thousand endpoints gets no more turns than a partner with one.
 */
import type { TenantId } from '../../src/base/ids.js'
import type { Lane } from './lane.js'

export interface FairLine {
  /** A lane that stands in a line already stays where it is. */
  join(lane: Lane, tenant: TenantId): void
  next(): Lane | undefined
}

export function createFairLine(): FairLine {
  /** In the order of their turns; a Map keeps it, and moves a partner to the end cheaply. */
  const partners = new Map<TenantId, Set<Lane>>()
  return {
    join: (lane, tenant) => {
      if (lane.inLine) return
      lane.inLine = true
      const lanes = partners.get(tenant)
      if (lanes === undefined) partners.set(tenant, new Set([lane]))
      else lanes.add(lane)
    },
    next: () => {
      for (const [tenant, lanes] of partners) {
        partners.delete(tenant)
        for (const lane of lanes) {
          lanes.delete(lane)
          if (lanes.size > 0) partners.set(tenant, lanes)
          lane.inLine = false
          return lane
        }
      }
      return undefined
    },
  }
}
