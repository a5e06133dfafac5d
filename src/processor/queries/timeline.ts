/**
 * What is written down about an intent or a payout, in the order of time, as operators see it.
 *
 * - No account number, no token, no payload: what is shown may be pasted anywhere.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import { toWire } from '../../money/money.js'
import type { EntityHistory } from '../../store/entity_history.js'

interface TimelineItem {
  readonly at: number
  readonly kind: 'event' | 'entry' | 'action' | 'discrepancy'
  readonly text: string
}

/** What is of one moment stays in this order. */
export function timelineOf(file: EntityHistory): object[] {
  const { events, entries, discrepancies, actions } = file
  /** Names the discrepancy that it is about. */
  const about = (id: string): string => (id === file.entity.id ? '' : ` ${id}`)
  const items: TimelineItem[] = [
    ...actions.map(({ at, actor, action, subject, reason, evidence }): TimelineItem => {
      const where = evidence === null ? '' : ` (${evidence})`
      return {
        at,
        kind: 'action',
        text: `${action}${about(subject)} by ${actor}: ${reason}${where}`,
      }
    }),
    ...entries.map(({ at, plan, entity, account, amount, balance }): TimelineItem => {
      const what = `${account} ${toWire(amount)}, balance ${toWire(balance)}`
      return { at, kind: 'entry', text: `${plan}${about(entity)}: ${what}` }
    }),
    ...events.map(({ at, type, id, sequence, settledAt }): TimelineItem => {
      const outcome = settledAt === null ? 'open' : `settled at ${toRfc3339(instant(settledAt))}`
      return { at, kind: 'event', text: `${type} ${id}, sequence ${sequence}, ${outcome}` }
    }),
    ...discrepancies.map(({ at, id, reason, settlement }): TimelineItem => ({
      at,
      kind: 'discrepancy',
      text: `${id}: ${reason}, ${settlement ?? 'open'}`,
    })),
  ]
  return items
    .sort((one, other) => one.at - other.at)
    .map(({ at, ...rest }) => ({ at: toRfc3339(instant(at)), ...rest }))
}
