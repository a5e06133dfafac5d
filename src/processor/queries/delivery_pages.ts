/**
 * Merges the delivery pages of several webhook pools into one page.
 *
 * Does not own: requesting them (servers/webhook_control), views.
 *
 * - Order: newest event first, then endpoint.
 * - A pool's page ends at its last delivery; later deliveries of other pools wait for the next
 *   page, so none is skipped.
 * - A delivery that two pools hold appears once, in its later version.
 */
import { AFTER_ALL_IDS } from '../../base/ids.js'
import type { DeliveryRecord__Output as DeliveryRecord } from '../../../protos/types/causeway/internal/v1/DeliveryRecord.js'

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryRecord[]
  /** More deliveries follow the last one. */
  readonly more: boolean
}

export function mergePages(pages: readonly DeliveryPage[], limit: number): DeliveryPage {
  const ends = pages.filter(({ more }) => more).map(({ deliveries }) => deliveries.at(-1))
  const all = new Map<string, DeliveryRecord>()
  for (const record of pages.flatMap(({ deliveries }) => deliveries)) {
    const position = positionOf(record)
    const other = all.get(position)
    if (other === undefined || other.id < record.id) all.set(position, record)
  }
  const merged = [...all.values()]
    .filter((record) => ends.every((end) => end === undefined || compare(record, end) <= 0))
    .sort(compare)
  return { deliveries: merged.slice(0, limit), more: ends.length > 0 || merged.length > limit }
}

/** Negative when `one` comes first. */
function compare(one: DeliveryRecord, other: DeliveryRecord): number {
  if (one.event_id !== other.event_id) return one.event_id > other.event_id ? -1 : 1
  if (one.endpoint_id === other.endpoint_id) return 0
  return one.endpoint_id > other.endpoint_id ? -1 : 1
}

export const positionOf = ({ event_id, endpoint_id }: DeliveryRecord): string =>
  `${event_id} ${endpoint_id}`

export function positionIn(position: string | null): { event: string; endpoint: string } {
  const [event = '', endpoint = ''] = (position ?? `${AFTER_ALL_IDS} `).split(' ')
  return { event, endpoint }
}
